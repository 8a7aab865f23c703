// Draws every chart of the page, in order, from the specification beside it. Colours are the page's
// CSS variables, so that a chart follows light, dark and print without being drawn anew.
(() => {
  "use strict";
  const font = getComputedStyle(document.body).fontFamily;
  const ink = "var(--ink)", dim = "var(--dim)", line = "var(--line)";
  const config = {
    background: null,
    font,
    view: {stroke: line},
    axis: {labelColor: dim, titleColor: dim, domainColor: dim, tickColor: line, gridColor: line,
           titleFontWeight: "normal", labelFontSize: 11, titleFontSize: 12, titlePadding: 8},
    legend: {labelColor: ink, titleColor: dim, labelFontSize: 12, titleFontWeight: "normal", symbolSize: 80},
    text: {color: ink, font},
  };
  // Expressions are interpreted (ast), never compiled: the page's policy forbids eval.
  const options = {mode: "vega-lite", renderer: "svg", actions: false, ast: true, config, defaultStyle: false,
                   tooltip: {disableDefaultStyle: true}, hover: false};
  const views = {};
  const draw = async () => {
    for (const place of document.querySelectorAll("[data-chart]")) {
      try {
        const spec = JSON.parse(document.getElementById(place.dataset.chart).textContent);
        views[place.id] = (await vegaEmbed(place, spec, options)).view;
      } catch (error) {
        place.textContent = "This chart could not be drawn; its numbers are in the table.";
        console.error(place.id, error);
      }
    }
    document.documentElement.dataset.charts = "drawn";
  };
  // On paper nothing can be unfolded.
  const folded = [];
  addEventListener("beforeprint", () => {
    folded.push(...document.querySelectorAll("details:not([open])"));
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => {
    for (const part of folded.splice(0)) part.open = false;
  });
  window.unmaskCharts = views;
  draw();
})();
