"""The sub-commands of `microzo`; each file holds one click command named ``command``."""
