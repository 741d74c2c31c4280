import "./meter.css";

/** The used part of a limit, and after it what running requests reserved; both from 0 to 1. */
export function Meter(props: {
  readonly used: number;
  readonly held?: number;
  readonly isHigh: boolean;
  /** The same in words. */
  readonly label: string;
}) {
  const used = Math.min(1, Math.max(0, props.used)) * 100;
  const held = Math.min(100 - used, Math.max(0, props.held ?? 0) * 100);
  return (
    <span
      role="meter"
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(used + held)}
      title={props.label}
      className={used + held >= 100 ? "meter is-full" : props.isHigh ? "meter is-high" : "meter"}
    >
      <span className="meter-used" style={{ width: `${used}%` }} />
      <span className="meter-held" style={{ width: `${held}%` }} />
    </span>
  );
}
