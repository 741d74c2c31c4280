// The drawing code and its libraries are one file, which pages load when they show a chart.
export { LineTrend } from "./line-trend.tsx";
export { ShareRing } from "./share-ring.tsx";
export { Sparkline } from "./sparkline.tsx";
export { StackedBars } from "./stacked-bars.tsx";
