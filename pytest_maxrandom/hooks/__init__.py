"""What pytest sees: files, items, options, reports. Only this room and the plugin import pytest."""
