"""Models that a server has loaded: how each kind of server is asked, and what is checked first."""
