// The page's looks. Colours are Okabe and Ito's, which colour-blind readers tell apart; nothing is
// told by colour alone. No font, image or rule comes from outside.
#include "report/html_page.h"

namespace unmask::html {

std::string_view style_sheet() {
  return R"css(
:root{color-scheme:light dark;--bg:#fff;--ink:#1a1f26;--dim:#56606c;--line:#d8dee6;--panel:#f5f7f9;--link:#00598c;
--baseline:#0072b2;--candidate:#d55e00;--gap:#7d3c98;--good:#007a5a;--warn:#9a6700;--bad:#c04a00;--focus:#0072b2;
--v-degraded-masked:#8c2d6f;--v-degraded:#b04a8f;--v-masked:#d55e00;--v-amplified:#e69f00;--v-clean:#009e73;--v-inconclusive:#7a8592}
@media (prefers-color-scheme:dark){:root{--bg:#12161b;--ink:#e6e9ed;--dim:#a2adb9;--line:#313a44;--panel:#1b2128;--link:#7cc4ef;
--baseline:#56b4e9;--candidate:#f0a030;--gap:#c39bd3;--good:#2fc296;--warn:#e6b84c;--bad:#ff8c42;--focus:#7cc4ef;
--v-degraded-masked:#d079b3;--v-degraded:#cc79a7;--v-masked:#ff8c42;--v-amplified:#e6b84c;--v-clean:#2fc296;--v-inconclusive:#96a1ad}}
@media print{:root{color-scheme:light;--bg:#fff;--ink:#000;--dim:#444;--line:#bbb;--panel:#fff;--link:#000;
--baseline:#0072b2;--candidate:#d55e00;--gap:#7d3c98;--good:#007a5a;--warn:#9a6700;--bad:#c04a00;
--v-degraded-masked:#8c2d6f;--v-degraded:#b04a8f;--v-masked:#d55e00;--v-amplified:#e69f00;--v-clean:#009e73;--v-inconclusive:#7a8592}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans","DejaVu Sans",sans-serif}
header,main,footer{max-width:60rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:1.75rem}
main{outline:0}
footer{border-top:1px solid var(--line);margin-top:3rem;padding-top:1rem;padding-bottom:3rem;color:var(--dim);font-size:.875rem}
h1,h2,h3,h4{line-height:1.25;margin:0 0 .5rem;text-wrap:balance}
h1{font-size:1.5rem}h2{font-size:1.375rem;margin-top:2.75rem}h3{font-size:1.125rem;margin-top:2.25rem}h4{font-size:1rem;margin-top:1.25rem}
h1,h2,h3,h4,p,li,summary,figcaption{overflow-wrap:anywhere}
p{margin:0 0 .75rem;max-width:46rem}
ul{margin:0 0 .75rem;padding-left:1.25rem;max-width:46rem}li{margin:.25rem 0}
a{color:var(--link)}
code,pre,.mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.875em;overflow-wrap:anywhere}
code{background:var(--panel);padding:.05em .3em;border-radius:3px}
.keep{white-space:nowrap}.dim{color:var(--dim)}.small{font-size:.875rem}
.skip{position:absolute;left:-100vw;top:0;background:var(--bg);color:var(--ink);padding:.5rem 1rem;z-index:2}
.skip:focus{left:0}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:3px}
.kicker{color:var(--dim);font-size:.875rem;margin:0 0 .25rem}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:0;margin:1rem 0 0;font-size:.875rem;max-width:none}
.verdict{border-left:.5rem solid var(--v,var(--dim));background:var(--panel);padding:1rem 1.25rem;margin:1.25rem 0;border-radius:0 6px 6px 0}
.verdict .word{display:block;font-size:1.5rem;font-weight:700;letter-spacing:.01em;margin-bottom:.25rem}
.verdict p{margin:0 0 .5rem}.verdict p:last-child{margin:0}
.symbol{display:inline-block;min-width:1.4em;color:var(--v,inherit)}
.v-degraded-masked{--v:var(--v-degraded-masked)}.v-degraded{--v:var(--v-degraded)}.v-masked{--v:var(--v-masked)}
.v-amplified{--v:var(--v-amplified)}.v-clean{--v:var(--v-clean)}.v-inconclusive{--v:var(--v-inconclusive)}
.scroll{overflow-x:auto;margin:.75rem 0}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;min-width:20rem}
caption{text-align:left;color:var(--dim);padding:0 0 .375rem;caption-side:top}
th,td{padding:.3125rem .75rem .3125rem 0;border-bottom:1px solid var(--line);vertical-align:top;text-align:left;font-weight:400}
thead th{color:var(--dim);font-weight:600;vertical-align:bottom;border-bottom:1px solid var(--dim)}
tbody th{overflow-wrap:anywhere;min-width:7rem;max-width:22rem}
.n{text-align:right;white-space:nowrap}
th:last-child,td:last-child{padding-right:0}
tr.strong>*{font-weight:600}
.mark{color:var(--bad);font-weight:600;white-space:nowrap}
.matrix td{padding:.25rem;border:1px solid var(--line)}
.matrix th{padding:.375rem .75rem .375rem .25rem}
.matrix a{display:block;padding:.375rem .625rem;border-left:.375rem solid var(--v);text-decoration:none;color:var(--ink);background:var(--panel);min-width:9.5rem}
.matrix a:hover .word{text-decoration:underline}
.matrix .word{display:block;font-weight:600;white-space:nowrap}.matrix .gap{color:var(--dim);white-space:nowrap}
figure{margin:1rem 0 1.25rem}
figcaption{color:var(--dim);font-size:.875rem;max-width:46rem;margin:.25rem 0 .5rem}
.chart{overflow-x:auto}.chart:empty{display:none}
.chart svg{display:block;max-width:100%;height:auto}
.chart .vega-embed,.chart.vega-embed{display:block;padding:0}
.side{display:flex;flex-wrap:wrap;gap:0 2.5rem}.side>*{flex:1 1 22rem;min-width:0}
details{margin:.375rem 0}
summary{cursor:pointer;color:var(--link);padding:.125rem 0;width:fit-content}
details.cell{border-top:1px solid var(--line);margin:0;padding:.25rem 0}
details.cell>summary{color:var(--ink);width:auto;padding:.625rem 0}
details.cell>summary .word{font-weight:700}
details.cell>summary .line{display:block;color:var(--dim);font-size:.875rem;padding-left:1.125rem;max-width:50rem}
.talk{border-left:2px solid var(--line);padding-left:1rem;margin:.5rem 0 1.25rem;max-width:52rem}
.talk .who{font-weight:600;font-size:.8125rem;color:var(--dim);margin:.625rem 0 .125rem}
.talk pre{white-space:pre-wrap;margin:0;background:var(--panel);padding:.5rem .75rem;border-radius:4px}
.talk pre+pre{margin-top:.25rem}
.talk .bad{box-shadow:inset .25rem 0 0 var(--bad)}
.talk .bad .flag{color:var(--bad);font-weight:700}
#vg-tooltip-element{position:fixed;visibility:hidden;z-index:9;background:var(--bg);color:var(--ink);border:1px solid var(--dim);border-radius:4px;padding:.375rem .625rem;font-size:.8125rem;max-width:24rem;overflow-wrap:anywhere;pointer-events:none}
#vg-tooltip-element.visible{visibility:visible}
#vg-tooltip-element table{min-width:0;font-size:inherit}#vg-tooltip-element td{border:0;padding:0 .5rem 0 0}#vg-tooltip-element td.key{color:var(--dim)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.125rem 1rem;margin:0 0 .75rem}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
@media (max-width:40rem){header,main,footer{padding-left:.875rem;padding-right:.875rem}dl{grid-template-columns:1fr}dd{margin-bottom:.375rem}.chart svg{min-width:30rem}.side .chart svg{min-width:0}}
@media print{body{font-size:10pt}header,main,footer{max-width:none;padding-left:0;padding-right:0}nav,.skip{display:none}
h2,h3,h4,summary,.talk .who,h2+p,h4+p,.chart{break-after:avoid}figcaption,.chart,.verdict,.talk pre,table,tr,dt,dd{break-inside:avoid}
table:has(tbody tr:nth-child(20)){break-inside:auto}thead{display:table-header-group}tbody tr:nth-last-child(-n+3){break-before:avoid}
.scroll,.chart{overflow:visible}p{orphans:3;widows:3}.side{display:block}table{font-size:8.5pt;min-width:0}th,td{padding-right:.5rem}h2{margin-top:1.5rem}
details::details-content{content-visibility:visible;block-size:auto}summary{list-style:none;color:var(--ink)}summary::-webkit-details-marker{display:none}
a{text-decoration:none}.chart svg{max-width:100%;min-width:0}}
)css";
}

}  // namespace unmask::html
