"""Style sheet of a report: light, dark and print."""

STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --ink: #22303c; --quiet: #5a6874; --grid: #e3e7eb; --faint: #d7dde3;
  --card: #f5f7f9; --motion: #2b5c8a; --force: #b5402f; --structure: #7a7a7a; --good: #2f7440; --warn: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --page: #14181c; --ink: #e4e9ed; --quiet: #9fabb5; --grid: #2a3138;
  --faint: #323b44; --card: #1c2228; --motion: #6fb1ea; --force: #f0806c;
  --structure: #a0a6ab; --good: #76c58a; --warn: #e6b450; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 Charter, "Iowan Old Style", Georgia, serif; color: var(--ink); background: var(--page);
  max-width: 74rem; margin: 0 auto; padding: 2rem 1.5rem 5rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: .5rem 0 .2rem; }
h2 { font-size: 1.35rem; margin: 2.8rem 0 .6rem; border-top: 1px solid var(--grid); padding-top: 1.3rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, li { max-width: 52rem; margin: .5rem 0; }
a { color: var(--motion); }
:focus-visible { outline: 3px solid var(--motion); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; }
.subtitle, .note, figcaption { color: var(--quiet); }
nav { columns: 3 14rem; column-gap: 2.5rem; font-size: .95rem; margin: 1.4rem 0; }
nav a { display: block; text-decoration: none; padding: .12rem 0; } nav a:hover { text-decoration: underline; }
.verdict { background: var(--card); border-left: .5rem solid var(--tone); border-radius: .3rem;
  padding: 1rem 1.4rem; margin: 1.4rem 0; }
.verdict h2 { border: 0; padding: 0; margin: 0 0 .4rem; font-size: 1.5rem; color: var(--tone); }
.verdict ul { padding: 0; margin: 0; list-style: none; }
.verdict li { padding-left: 6.2rem; position: relative; max-width: 60rem; }
.verdict li b { position: absolute; left: 0; font: 600 .78rem/2 system-ui, sans-serif; color: var(--own); }
.s0 { --tone: var(--good); --own: var(--good); } .s1 { --tone: var(--warn); --own: var(--warn); }
.s2, .s3 { --tone: var(--force); --own: var(--force); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .8rem;
  margin: 1.2rem 0; padding: 0; }
.facts div { background: var(--card); border-radius: .3rem; padding: .6rem .9rem; }
.facts dt { color: var(--quiet); font-size: .85rem; } .facts dd { margin: 0; font-size: 1.25rem; }
.wide { overflow-x: auto; margin: .6rem 0 1rem; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums lining-nums; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .28rem .5rem; text-align: left; border-bottom: 1px solid var(--grid); vertical-align: top;
  white-space: nowrap; }
td:last-child { white-space: normal; }
td.long { white-space: normal; min-width: 18rem; max-width: 44rem; overflow-wrap: anywhere; }
thead th { white-space: normal; font-weight: 600; color: var(--quiet); position: sticky; top: 0; background: var(--page); }
tbody th { font-weight: 400; } .number { text-align: right; }
tbody tr:hover { background: var(--card); }
.flag { display: inline-block; border: 1px solid currentColor; border-radius: .7rem; padding: 0 .5rem;
  font-size: .78rem; color: var(--warn); }
figure { margin: 1.2rem 0 1.8rem; overflow-x: auto; }
figure svg { width: 100%; min-width: 44rem; height: auto; max-height: 62rem; } figcaption { position: sticky; left: 0; }
svg text { fill: var(--ink); font-family: "DejaVu Sans", Verdana, sans-serif !important; }
details { margin: .8rem 0; } summary { cursor: pointer; font-weight: 600; }
pre { background: var(--card); padding: .8rem 1rem; border-radius: .3rem; overflow-x: auto; font-size: .85rem; }
dl.glossary dt { font-weight: 600; margin-top: .7rem; } dl.glossary dd { margin: 0; max-width: 52rem; }
@media print { :root { --page: #ffffff; --ink: #000000; --quiet: #444444; --grid: #cccccc; --card: #ffffff; }
  body { font-size: 10pt; max-width: none; padding: 0; } nav, .skip { display: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
  figure svg { min-width: 0; }
  h2, h3, caption { break-after: avoid; } figure, tr, .verdict { break-inside: avoid; } .wide { overflow: visible; }
  th, td { padding: .15rem .4rem; white-space: normal; } thead { display: table-header-group; } thead th { position: static; } }
"""
