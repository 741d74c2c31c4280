import { Suspense } from "react";
import "./chart.css";
import type { ShareRingProps } from "./drawn/share-ring.tsx";
import type { SparklineProps } from "./drawn/sparkline.tsx";
import type { ChartProps } from "./types.ts";
import { late } from "../late/late.tsx";

const HEIGHT = 260;

const LazyBars = late(async () => (await import("./drawn/drawings.ts")).StackedBars);
const LazyTrend = late(async () => (await import("./drawn/drawings.ts")).LineTrend);
const LazyRing = late(async () => (await import("./drawn/drawings.ts")).ShareRing);
const LazySparkline = late(async () => (await import("./drawn/drawings.ts")).Sparkline);

/** Reserves the space of a chart while its code loads, so that nothing moves. */
function Wait(props: { readonly height: number }) {
  return <div style={{ height: props.height }} />;
}

/** Amounts over time, one bar per slot with its series stacked. */
export function StackedBars(props: ChartProps) {
  return (
    <Suspense fallback={<Wait height={props.height ?? HEIGHT} />}>
      <LazyBars {...props} />
    </Suspense>
  );
}

/** Numbers over time, each as a line. */
export function LineTrend(props: ChartProps) {
  return (
    <Suspense fallback={<Wait height={props.height ?? HEIGHT} />}>
      <LazyTrend {...props} />
    </Suspense>
  );
}

/** Parts of a whole. */
export function ShareRing(props: ShareRingProps) {
  return (
    <Suspense fallback={<Wait height={HEIGHT} />}>
      <LazyRing {...props} />
    </Suspense>
  );
}

/** The trend of a number; takes the width of its container. */
export function Sparkline(props: SparklineProps) {
  return (
    <Suspense fallback={<div className="sparkline" />}>
      <LazySparkline {...props} />
    </Suspense>
  );
}
