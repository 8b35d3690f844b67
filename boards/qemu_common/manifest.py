freeze("modules", "_boot.py")
