"""Who did what, from where and by which credential. Written in the transaction of the change itself."""
