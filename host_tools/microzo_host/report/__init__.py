"""What people read: tables for the terminal."""
