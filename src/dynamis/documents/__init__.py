"""Documents of text, formulas, tables and figures, written as HTML, Markdown, LaTeX and Jupyter notebooks."""
