import "./progress.css";

/** Returns the percentage of a text such as `45%`; undefined for any other text. */
export function parsePercent(text: string): number | undefined {
  const value = Number(/^\s*(\d+(?:\.\d+)?)\s*%?\s*$/.exec(text)?.[1] ?? Number.NaN);
  return Number.isNaN(value) ? undefined : Math.min(100, value);
}

/** The progress of a slow task, as reported by its upstream. */
export function Progress(props: { readonly label: string; readonly text: string; readonly isFailed: boolean }) {
  const percent = parsePercent(props.text);
  if (percent === undefined) return <span className="soft">{props.text || "–"}</span>;
  return (
    <span className={props.isFailed ? "progress progress-failed" : "progress"}>
      <span
        className="progress-track"
        role="progressbar"
        aria-label={props.label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
      >
        <span className="progress-done" style={{ width: `${percent}%` }} />
      </span>
      <span aria-hidden="true">{Math.round(percent)}%</span>
    </span>
  );
}
