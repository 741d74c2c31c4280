import type { Webhook } from "@fairway/wire";
import { LANGUAGES } from "../../../lib/i18n.ts";
import { Facts } from "../../../ui/display/facts.tsx";
import { SEVERITY_TEXT } from "../severity.tsx";
import { useTexts, type Texts } from "../texts.ts";
import { LastSuccess } from "./endpoint-state.tsx";
import { FORMAT_FIELDS } from "./formats.ts";

function describeQuiet(t: Texts, { quiet }: Webhook): string {
  return quiet ? t("quietSpan", { from: quiet.from, to: quiet.to, zone: quiet.zone }) : "";
}

/** What an endpoint gets and when. */
export function EndpointFacts({ row }: { readonly row: Webhook }) {
  const t = useTexts();
  const { isText, label } = FORMAT_FIELDS[row.format];
  return (
    <div className="facts">
      <Facts
        title={t("sectionAddress")}
        items={[
          [t("format"), t(label)],
          [t("host"), <code key="host">{row.host}</code>],
          [t("language"), row.format === "standard" ? "" : LANGUAGES[row.language]],
          [t("lastSuccess"), <LastSuccess key="success" row={row} />],
          [t("failures"), row.failures > 0 ? row.failures : ""],
          [t("disabledReason"), row.disabled_reason],
        ]}
      />
      <Facts
        title={t("sectionTypes")}
        items={[
          [t("types"), row.types.length === 0 ? t("everyType") : <code key="types">{row.types.join(", ")}</code>],
          [t("minSeverity"), t(SEVERITY_TEXT[row.min_severity])],
          [t("group"), isText ? t("seconds", { count: row.group_seconds }) : ""],
          [t("quiet"), describeQuiet(t, row)],
          [t("ordered"), row.ordered ? t("yes") : ""],
        ]}
      />
    </div>
  );
}
