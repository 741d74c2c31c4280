import "./mark.css";

/** Marks like buoys: the shape means the same as the colour. */
export type MarkKind = "go" | "stop" | "caution" | "parked" | "unknown" | "underway";

const SHAPES: Record<MarkKind, string> = {
  go: "M8 2.5 13.5 13H2.5z",
  stop: "M3 3h10v10H3z",
  caution: "M8 1.5 14.5 8 8 14.5 1.5 8z",
  parked: "M3.5 3.5h9v9h-9z",
  unknown: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3Z",
  underway: "M8 2.5a5.5 5.5 0 0 1 0 11z",
};

export function MarkShape(props: { readonly kind: MarkKind; readonly size?: number }) {
  const size = props.size ?? 12;
  return (
    <svg className={`mark-shape mark-${props.kind}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      {props.kind === "underway" && <circle cx="8" cy="8" r="5.5" className="mark-ring" />}
      <path d={SHAPES[props.kind]} />
    </svg>
  );
}

export function Mark(props: { readonly kind: MarkKind; readonly label: string; readonly title?: string | undefined }) {
  return (
    <span className={`mark mark-text-${props.kind}`} title={props.title}>
      <MarkShape kind={props.kind} />
      <span>{props.label}</span>
    </span>
  );
}

/** A small coloured dot with text, for graded values such as response times. */
export type Grade = "grey" | "green" | "lime" | "yellow" | "orange" | "red";

export function Graded(props: { readonly grade: Grade; readonly text: string; readonly title?: string | undefined }) {
  return (
    <span className="graded" title={props.title}>
      <span className={`graded-dot grade-${props.grade}`} aria-hidden="true" />
      <span>{props.text}</span>
    </span>
  );
}
