import type { BatchDetail as Detail, BatchPrice } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { formatCount, formatDecimal } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { Facts } from "../../ui/display/facts.tsx";
import { Money } from "../../ui/display/money.tsx";
import { Stamp } from "../../ui/display/stamp.tsx";
import { LoadFailed, Loading } from "../../ui/feedback/empty.tsx";
import { batchQuery } from "./api.ts";
import { useTexts } from "./texts.ts";

/** Everything about one batch: its requests, money, times, files, prices and faults. */
export function BatchDetail({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(batchQuery(id));
  if (data) return <Loaded batch={data} />;
  return error ? <LoadFailed problem={error} onRetry={() => void refetch()} /> : <Loading />;
}

function Loaded({ batch }: { readonly batch: Detail }) {
  const t = useTexts();
  const language = useLanguage();
  const count = (value: number) => (value === 0 ? "" : formatCount(value, language));
  const at = (time: number) => (time > 0 ? <Stamp at={time} /> : "");
  return (
    <div className="facts">
      <Facts
        title={t("results")}
        items={[
          [t("batchId"), <Copied text={batch.id} />],
          [t("endpoint"), <code className="mono">{batch.endpoint}</code>],
          [t("succeeded"), count(batch.succeeded)],
          [t("failed"), count(batch.failed)],
          [t("expired"), count(batch.expired)],
          [t("cancelled"), count(batch.cancelled)],
          [t("error"), batch.error === "" ? "" : <code className="mono">{batch.error}</code>],
        ]}
      />
      <Facts
        title={t("money")}
        items={[
          [t("deposit"), <Money quota={batch.deposit} isPrecise />],
          [t("charged"), batch.phase === "settled" ? <Money quota={batch.charged} isPrecise /> : t("notYet")],
          [t("saved"), batch.saved > 0 ? <Money quota={batch.saved} isPrecise /> : ""],
          [
            t("inLog"),
            batch.phase === "settled" ? (
              <Link className="link" to={`/log?range=custom&request=${encodeURIComponent(batch.request_id)}`}>
                {t("openLog")}
              </Link>
            ) : (
              ""
            ),
          ],
        ]}
      />
      <Facts
        title={t("times")}
        items={[
          [t("created"), at(batch.created_at)],
          [t("expires"), at(batch.expires_at)],
          [t("ended"), at(batch.ended_at)],
          [t("settled"), at(batch.settled_at)],
          [t("deleted"), at(batch.deleted_at)],
        ]}
      />
      <Files batch={batch} />
      <Prices prices={batch.prices} />
      <Faults batch={batch} />
    </div>
  );
}

function Copied({ text }: { readonly text: string }) {
  const t = useTexts();
  return (
    <span className="batch-copied">
      <code className="mono">{text}</code>
      <CopyButton text={text} label={t("copyId", { id: text })} />
    </span>
  );
}

function Files({ batch }: { readonly batch: Detail }) {
  const t = useTexts();
  const files = [
    [t("input"), batch.input_file_id],
    [t("output"), batch.output_file_id],
    [t("errorFile"), batch.error_file_id],
  ] as const;
  if (files.every(([, id]) => id === "")) return null;
  return <Facts title={t("files")} items={files.map(([name, id]) => [name, id === "" ? "" : <Copied text={id} />])} />;
}

function Prices({ prices }: { readonly prices: readonly BatchPrice[] }) {
  const t = useTexts();
  const language = useLanguage();
  if (prices.length === 0) return null;
  const ratio = (value: number) => formatDecimal(value, language, 0, 4);
  return (
    <section className="batch-wide">
      <h3>{t("prices")}</h3>
      {prices.map((price) => (
        <div key={price.model} className="batch-price">
          <strong>{price.model}</strong>
          <code className="mono">{price.formula}</code>
          <span className="soft">
            {Object.entries(price)
              .flatMap(([name, value]) =>
                typeof value === "number" && value >= 0 && isUsed(name, price) ? [`${name} ${ratio(value)}`] : [],
              )
              .join(" · ")}
          </span>
        </div>
      ))}
    </section>
  );
}

/** Factors that the formula names. */
function isUsed(name: string, { formula }: BatchPrice): boolean {
  return formula.includes(name);
}

function Faults({ batch }: { readonly batch: Detail }) {
  const t = useTexts();
  if (batch.errors.length === 0) return null;
  return (
    <section className="batch-wide">
      <h3>{t("faults")}</h3>
      <ul className="batch-faults">
        {batch.errors.map(({ line, code, message }, index) => (
          // Two faults of a line differ in nothing else.
          <li key={index}>
            <span>{line === null ? t("wholeFile") : t("line", { line })}</span> <code className="mono">{code}</code>{" "}
            {message}
          </li>
        ))}
      </ul>
    </section>
  );
}
