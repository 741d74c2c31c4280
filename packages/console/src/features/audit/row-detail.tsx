import type { AuditRow } from "@fairway/wire";
import { Mark } from "../../ui/display/mark.tsx";
import { diffMembers } from "./changes.ts";
import { useTexts } from "./texts.ts";

function Value({ text }: { readonly text: string | undefined }) {
  return (
    <div role="cell">
      {text === undefined ? <span className="soft">–</span> : <pre className="audit-value">{text}</pre>}
    </div>
  );
}

/** The values before and after the call, next to each other. */
export function AuditDetail({ row }: { readonly row: AuditRow }) {
  const t = useTexts();
  const { rows, isUnfinished } = diffMembers(row.old_value, row.new_value);
  return (
    <div className="audit-detail">
      {isUnfinished && <Mark kind="caution" label={t("unfinished")} />}
      {rows.length === 0 ? (
        <p className="soft">{t("noValues")}</p>
      ) : (
        <div role="table" aria-label={t("changes")} className="audit-table">
          <div role="row" className="audit-row soft">
            <span role="columnheader">{t("member")}</span>
            <span role="columnheader">{t("before")}</span>
            <span role="columnheader">{t(isUnfinished ? "sent" : "after")}</span>
          </div>
          {rows.map(({ name, before, after }) => (
            <div key={name} role="row" className={`audit-row${before === after ? "" : " is-changed"}`}>
              <code role="rowheader">{name === "" ? t("value") : name}</code>
              <Value text={before} />
              <Value text={after} />
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
