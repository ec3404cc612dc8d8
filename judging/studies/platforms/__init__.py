"""What a recruiting platform says about its submissions, asked for or told; in the shape that Prolific documents."""
