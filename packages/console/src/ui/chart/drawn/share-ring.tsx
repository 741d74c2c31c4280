import { arc, pie } from "d3-shape";
import type { Colour } from "../colours.ts";

const OUTER = 83;
const INNER = 57;
/** The gap between two arcs, in radians. */
const GAP = 0.025;

export interface Share {
  readonly key: string;
  readonly label: string;
  readonly colour: Colour;
  readonly value: number;
}

export interface ShareRingProps {
  readonly shares: readonly Share[];
  readonly summary: string;
  print(value: number): string;
  printShare(part: number, whole: number): string;
}

/** Each part of the whole, as a ring with its numbers next to it. */
export function ShareRing({ shares, summary, print, printShare }: ShareRingProps) {
  const whole = shares.reduce((sum, { value }) => sum + value, 0);
  const slices = pie<Share>()
    .sort(null)
    .value(({ value }) => value)
    .padAngle(shares.length > 1 ? GAP : 0)([...shares]);
  const shape = arc<(typeof slices)[number]>().innerRadius(INNER).outerRadius(OUTER).cornerRadius(2);
  return (
    <div className="share">
      <svg viewBox="-90 -90 180 180" width={220} height={220} role="img" aria-label={summary}>
        {slices.map((slice) => (
          <path key={slice.data.key} className={`share-arc ${slice.data.colour}`} d={shape(slice) ?? ""} />
        ))}
        <text className="share-total" y={5} textAnchor="middle">
          {print(whole)}
        </text>
      </svg>
      <ul className="share-list">
        {shares.map(({ key, label, colour, value }) => (
          <li key={key}>
            <span className={`swatch ${colour}`} />
            <span className="cut">{label}</span>
            <span>{print(value)}</span>
            <span className="soft">{printShare(value, whole)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
