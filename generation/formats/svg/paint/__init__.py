"""What a drawing would cost a browser to paint, by what its parts cost and how much of the canvas they cover."""
