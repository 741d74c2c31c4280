import { FilterBar, FilterSelect, FilterText } from "../../ui/grid/filter-bar.tsx";
import { RangeFilter } from "../../ui/grid/range-filter.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { IconButton } from "../../ui/display/icon-button.tsx";
import { DEFAULTS, refreshReports, USUAL_RANGE, type Question } from "./api.ts";
import { changeField, listFields, readFields, TAG } from "./fields.ts";
import { formatField } from "./names.ts";
import type { Reader } from "./reader.ts";
import { INTERVALS } from "./shape.ts";
import { listTagKeys, readSharing } from "./shared-cost/sharing.ts";
import { ChannelFilter } from "../../shared/channels/channel-filter.tsx";
import { AccountFilter, TokenFilter } from "../../shared/names/name-filter.tsx";
import { useTexts } from "./texts.ts";

interface FiltersProps {
  readonly question: Question;
  readonly reader: Reader;
  change(change: Partial<Question>): void;
}

const PLACES = ["groupBy", "thenBy", "thenBy3"] as const;

/** One of the fields by which a report groups, and the key if it is a tag. */
function FieldChoice({ question, reader, change, at }: FiltersProps & { readonly at: number }) {
  const t = useTexts();
  const fields = readFields(question.by, reader);
  const chosen = fields[at] ?? "";
  const choose = (name: string) => {
    const by = changeField(fields, at, name);
    // What was shared goes with its tag.
    const isShared = readSharing({ ...question, by }, reader) !== undefined;
    change({ by, ...(!isShared && NOTHING_SHARED) });
  };
  const isTag = chosen.startsWith(TAG);
  const others = fields.filter((_, place) => place !== at);
  const offered = listFields(reader).filter((name) => !others.includes(name));
  const label = t(PLACES[at] ?? "thenBy");
  return (
    <>
      <FilterSelect
        label={label}
        width="140px"
        value={isTag ? TAG : chosen}
        unset={at === 0 ? DEFAULTS.by : ""}
        choices={[
          { value: "", label: at === 0 ? t("allCalls") : t("noField") },
          ...offered.map((name) => ({ value: name, label: formatField(name, t) })),
          { value: TAG, label: t("fieldTag") },
        ]}
        onChange={choose}
      />
      {isTag && (
        <FilterText
          label={`${t("tagKey")} (${label})`}
          width="130px"
          value={chosen.slice(TAG.length)}
          onChange={(key) => choose(TAG + key)}
        />
      )}
    </>
  );
}

const NOTHING_SHARED = { shared: "", split: "" } as const;

/** The tag whose values may be shared; nothing to choose without a tag among the fields. */
function SharedChoice({ question, reader, change }: FiltersProps) {
  const t = useTexts();
  const keys = listTagKeys(question, reader);
  if (keys.length === 0) return null;
  return (
    <FilterSelect
      label={t("sharedCost")}
      width="160px"
      value={readSharing(question, reader)?.key ?? ""}
      choices={[
        { value: "", label: t("nothingShared") },
        ...keys.map((key) => ({ value: key, label: t("sharedOf", { key }) })),
      ]}
      onChange={(key) => change({ ...NOTHING_SHARED, shared: key })}
    />
  );
}

const INTERVAL_TEXTS = {
  none: "intervalNone",
  hour: "intervalHour",
  day: "intervalDay",
  week: "intervalWeek",
  month: "intervalMonth",
} as const;

const TYPED = ["endUser", "model", "group"] as const;

/** What is summed, its period, and the calls that count. */
export function Filters(props: FiltersProps) {
  const t = useTexts();
  const { question, reader, change } = props;
  const fields = readFields(question.by, reader);
  const isActive = Object.entries(DEFAULTS).some(([name, value]) => question[name as keyof Question] !== value);
  return (
    <FilterBar
      main={
        <FilterText
          isMain
          width="210px"
          label={t("tags")}
          value={question.tags}
          onChange={(tags) => change({ tags })}
        />
      }
      isActive={isActive}
      onClear={() => change(DEFAULTS)}
      aside={
        <IconButton variant="outline" label={t("refresh")} onClick={() => void refreshReports()}>
          <Icon name="refresh" />
        </IconButton>
      }
    >
      {PLACES.slice(0, fields.length + 1).map((place, at) => (
        <FieldChoice key={place} {...props} at={at} />
      ))}
      <SharedChoice {...props} />
      <FilterSelect
        label={t("interval")}
        width="130px"
        value={question.interval}
        unset={DEFAULTS.interval}
        choices={INTERVALS.map((name) => ({ value: name, label: t(INTERVAL_TEXTS[name]) }))}
        onChange={(interval) => change({ interval })}
      />
      <RangeFilter
        state={question}
        names={["today", "24h", "7d", "30d", "90d", "custom"]}
        usual={USUAL_RANGE}
        change={change}
      />
      {TYPED.map((name) => (
        <FilterText
          key={name}
          width="110px"
          label={t(name)}
          value={question[name]}
          onChange={(text) => change({ [name]: text })}
        />
      ))}
      {reader.of === "team" ? (
        <FilterText width="150px" label={t("token")} value={question.token} onChange={(token) => change({ token })} />
      ) : (
        <TokenFilter label={t("token")} value={question.token} onChange={(token) => change({ token })} />
      )}
      {reader.of === "everyone" && (
        <>
          <AccountFilter label={t("user")} value={question.user} onChange={(user) => change({ user })} />
          <ChannelFilter label={t("channel")} value={question.channel} onChange={(channel) => change({ channel })} />
        </>
      )}
    </FilterBar>
  );
}
