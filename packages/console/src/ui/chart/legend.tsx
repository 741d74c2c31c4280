import type { MouseEvent } from "react";
import type { ChartSeries } from "./types.ts";
import { useTexts } from "./texts.ts";

interface LegendProps {
  readonly series: readonly ChartSeries[];
  readonly hidden: ReadonlySet<string>;
  readonly label: string;
  hide(keys: ReadonlySet<string>): void;
}

/** The series of a chart with their colours: a click shows one alone, Shift and click hides it. */
export function Legend(props: LegendProps) {
  const { series, hidden } = props;
  const choose = (key: string) => (event: MouseEvent) => {
    const others = series.map((one) => one.key).filter((other) => other !== key);
    if (event.shiftKey) {
      const next = new Set(hidden);
      if (!next.delete(key)) next.add(key);
      return props.hide(next);
    }
    const isAlone = !hidden.has(key) && others.every((other) => hidden.has(other));
    props.hide(new Set(isAlone ? [] : others));
  };
  return (
    <div className="legend" role="group" aria-label={props.label} title={props.label}>
      {series.map(({ key, label, colour }) => (
        <button key={key} type="button" aria-pressed={!hidden.has(key)} onClick={choose(key)}>
          <span className={`swatch ${colour}`} />
          <span className="cut">{label}</span>
        </button>
      ))}
    </div>
  );
}

/** The legend of a chart that always shows all series. */
export function Key(props: { readonly series: readonly ChartSeries[] }) {
  const t = useTexts();
  return (
    <ul className="legend" aria-label={t("key")}>
      {props.series.map(({ key, label, colour, isDashed }) => (
        <li key={key}>
          <span className={`swatch ${colour}${isDashed ? " is-dashed" : ""}`} />
          <span className="cut">{label}</span>
        </li>
      ))}
    </ul>
  );
}
