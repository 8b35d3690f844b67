"""Pre-trained float weights, made by microzo_host.pretrain; see README.md beside this file."""
