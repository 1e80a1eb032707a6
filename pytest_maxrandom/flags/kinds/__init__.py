"""One module for each kind of red flag: its definition is called ``RED_FLAG``."""
