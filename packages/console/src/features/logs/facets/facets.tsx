import type { LogFacets } from "@fairway/wire";
import { useQueries, useQuery } from "@tanstack/react-query";
import { abbreviate } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { Icon } from "../../../ui/display/icon.tsx";
import { useShortened } from "../../../ui/display/shortened.tsx";
import { findReasonText, type TranslateFailure } from "../../../shared/failures/reasons.ts";
import { useTexts as useFailureTexts } from "../../../shared/failures/texts.ts";
import { facetsQuery, type LogFilter } from "../api.ts";
import { findKind } from "../kinds.ts";
import { useTexts } from "../texts.ts";
import "./facets.css";

type Translate = ReturnType<typeof useTexts>;
/** Filters that facets set, in the order of the panel. */
const FACETS = [
  { name: "type", values: "types", title: "type" },
  { name: "status", values: "statuses", title: "status" },
  { name: "code", values: "codes", title: "code" },
  { name: "model", values: "models", title: "model" },
  { name: "channel", values: "channels", title: "channel" },
  { name: "user", values: "users", title: "user" },
  { name: "token", values: "tokens", title: "token" },
  { name: "group", values: "groups", title: "group" },
] as const;

type Facet = (typeof FACETS)[number];
type FacetName = Facet["name"];

interface FacetsProps {
  readonly filter: LogFilter;
  readonly isAdmin: boolean;
  onFilter(change: Partial<Record<FacetName, string>>): void;
}

/** Filter values that mean "no filter". */
const UNSET: Readonly<Record<FacetName, string>> = {
  type: "0",
  status: "",
  code: "",
  model: "",
  channel: "",
  user: "",
  token: "",
  group: "",
};

interface Entry {
  readonly value: string;
  readonly count: number;
  readonly label: string;
  readonly note?: string;
}

function listEntries(
  facet: Facet,
  facets: LogFacets,
  { t, say }: { readonly t: Translate; readonly say: TranslateFailure },
): Entry[] {
  if (facet.values === "channels")
    return facets.channels.map(({ value, count, name }) => ({
      value,
      count,
      label: name || t("deletedChannel"),
      note: `#${value}`,
    }));
  return facets[facet.values].map(({ value, count }) => {
    const kind = facet.name === "type" ? findKind(value) : undefined;
    if (kind) return { value, count, label: t(kind.text) };
    if (facet.name === "code") return { value, count, label: findReasonText(value, say) ?? value };
    return { value, count, label: value };
  });
}

function Group(props: FacetsProps & { readonly facet: Facet; readonly facets: LogFacets }) {
  const t = useTexts();
  const say = useFailureTexts();
  const language = useLanguage();
  const { facet, filter } = props;
  const chosen = filter[facet.name];
  const isOn = chosen !== UNSET[facet.name];
  const found = listEntries(facet, props.facets, { t, say });
  const isListed = found.some(({ value }) => value === chosen);
  const entries = isOn && !isListed ? [{ value: chosen, count: 0, label: chosen }, ...found] : found;
  const { shown, more } = useShortened(entries);
  if (entries.length === 0) return null;
  const most = Math.max(...entries.map(({ count }) => count), 1);
  return (
    <details open className="facet">
      <summary>
        {t(facet.title)}
        <Icon name="down" size={12} />
      </summary>
      <ul>
        {shown.map((entry) => (
          <li key={entry.value}>
            <button
              type="button"
              aria-pressed={isOn && entry.value === chosen}
              title={entry.note === undefined ? entry.value : `${entry.label} ${entry.note}`}
              onClick={() =>
                props.onFilter({ [facet.name]: isOn && entry.value === chosen ? UNSET[facet.name] : entry.value })
              }
            >
              <span className="cut">
                {entry.label}
                {entry.note !== undefined && <span className="soft"> {entry.note}</span>}
              </span>
              <span className="facet-count">{abbreviate(entry.count, language)}</span>
              <span className="facet-bar" aria-hidden="true" style={{ width: `${(100 * entry.count) / most}%` }} />
            </button>
          </li>
        ))}
      </ul>
      {more}
    </details>
  );
}

/** Shows values of the matching rows with their counts; a click filters, another one removes the filter. */
export function Facets(props: FacetsProps) {
  const t = useTexts();
  const { filter, isAdmin } = props;
  const { data, error } = useQuery(facetsQuery(filter, isAdmin));
  // A facet that filters also offers the values that it excludes.
  const filtering = FACETS.filter(({ name }) => filter[name] !== UNSET[name]);
  const others = useQueries({
    queries: filtering.map(({ name }) => facetsQuery({ ...filter, [name]: UNSET[name] }, isAdmin)),
  });
  // The list shows the error.
  if (!data) return error ? null : <div className="facets" aria-busy="true" />;
  return (
    <div className="facets">
      {FACETS.map((facet) => {
        const at = filtering.indexOf(facet);
        return <Group key={facet.name} {...props} facet={facet} facets={(at < 0 ? data : others[at]?.data) ?? data} />;
      })}
      {!data.complete && <p className="soft facets-note">{t("facetsSampled")}</p>}
    </div>
  );
}
