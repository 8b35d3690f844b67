"""Pre-trained float weights, made by microzo_lab.pretrain; see README.md beside this file."""
