import type { AsyncTask } from "@fairway/wire";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { Facts } from "../../ui/display/facts.tsx";
import { Money } from "../../ui/display/money.tsx";
import { Stamp } from "../../ui/display/stamp.tsx";
import { actionText } from "./columns.tsx";
import { listResultLinks } from "./state.ts";
import { useTexts } from "./texts.ts";

/** Shows everything about one task, including its raw record. */
export function TaskDetail({ row }: { readonly row: AsyncTask }) {
  const t = useTexts();
  const results = listResultLinks(row.data);
  const record = JSON.stringify(row, undefined, 2);
  return (
    <div className="facts">
      <Facts
        title={t("detail")}
        items={[
          [
            t("taskId"),
            <>
              <code className="mono">{row.task_id}</code> <CopyButton text={row.task_id} label={t("copyId")} />
            </>,
          ],
          [t("action"), `${row.platform} · ${actionText(row.action, t)}`],
          [t("started"), <Stamp at={row.start_time} />],
          [t("updated"), <Stamp at={row.updated_at} />],
          [t("charge"), <Money quota={row.quota} isPrecise />],
          [t("failure"), row.fail_reason],
        ]}
      />
      {results.length > 0 && (
        <section>
          <h3>{t("results")}</h3>
          <ul className="task-results">
            {results.map((url) => (
              <li key={url}>
                <a className="link" href={url} target="_blank" rel="noopener noreferrer">
                  {url}
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className="task-record">
        <h3>
          {t("record")} <CopyButton text={record} label={t("copyRecord")} />
        </h3>
        <pre className="raw" tabIndex={0}>
          {record}
        </pre>
      </section>
    </div>
  );
}
