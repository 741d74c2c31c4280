import type { LogRow } from "@fairway/wire";
import type { ReactNode } from "react";
import { isAdmin as isAdminUser, useUser } from "../../session/session.ts";
import { formatCount, formatElapsed, preciseDollars, pricePerMillion } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { Mark } from "../../ui/display/mark.tsx";
import { Money, useQuotaDisplay } from "../../ui/display/money.tsx";
import { chargeOf, type Charge } from "./charge.ts";
import { Durations, isConsumption, TypeMark } from "./columns.tsx";
import { readOther, type LogOther } from "./other.ts";
import { Route } from "./route.tsx";
import { useTexts } from "./texts.ts";

function ChargeTable(props: { readonly charge: Charge; readonly quota: number }) {
  const t = useTexts();
  const language = useLanguage();
  const { charge } = props;
  return (
    <table className="charge" role="presentation">
      <tbody>
        {charge.kind === "call" ? (
          <tr>
            <td>{t("perCall", { price: pricePerMillion(charge.price, language) })}</td>
            <td>{preciseDollars(charge.price, language)}</td>
          </tr>
        ) : (
          charge.lines.map((line) => (
            <tr key={line.part}>
              <td>
                {t(line.part)}
                <span className="soft">
                  {" · "}
                  {t("chargeLine", {
                    count: formatCount(line.tokens, language),
                    price: pricePerMillion(line.perMillion, language),
                  })}
                </span>
              </td>
              <td>{preciseDollars((line.tokens * line.perMillion) / 1_000_000, language)}</td>
            </tr>
          ))
        )}
        <tr>
          <td className="soft">{t("groupRatio", { ratio: charge.groupRatio })}</td>
          <td />
        </tr>
        <tr>
          <td>{t("total")}</td>
          <td data-testid="charge-total">
            <Money quota={props.quota} isPrecise />
          </td>
        </tr>
      </tbody>
    </table>
  );
}

function Notes({ other }: { readonly other: LogOther }) {
  const t = useTexts();
  const reason = other.end_reason;
  return (
    <>
      {other.usage_source === "estimated" && <p className="log-note">{t("estimated")}</p>}
      {other.cache_hit && <p className="log-note">{t("repeatCharge")}</p>}
      {other.self_use && <p className="log-note">{t("selfUse")}</p>}
      {reason !== undefined && reason !== "stop" && <p className="log-note">{t("endedEarly", { reason })}</p>}
    </>
  );
}

/** What happened to the request apart from its answer; empty where nothing did. */
function Events({ other }: { readonly other: LogOther }) {
  const t = useTexts();
  const { cache_hit: isRepeated, cache_age: age, guardrail } = other;
  if (!isRepeated && guardrail === undefined) return null;
  const reason = other.admin_info?.guardrail_reason;
  return (
    <section>
      <h3>{t("events")}</h3>
      <ul className="attempts">
        {isRepeated && (
          <li>
            <Mark kind="go" label={t("cacheHit", { age: formatElapsed(age) })} />
          </li>
        )}
        {guardrail !== undefined && (
          <li>
            <Mark
              kind={guardrail === "block" ? "stop" : "caution"}
              label={t(guardrail === "block" ? "guardrailBlocked" : "guardrailFailed")}
            />
            {reason && <p className="soft">{t("guardrailReason", { reason })}</p>}
          </li>
        )}
      </ul>
    </section>
  );
}

/** Everything known about one row: how the charge was computed, which channels were tried, and who sent the request. */
export function RowDetail({ row }: { readonly row: LogRow }) {
  const t = useTexts();
  const { quotaPerUnit } = useQuotaDisplay();
  const isAdmin = isAdminUser(useUser());
  const other = readOther(row.other);
  const charge = isConsumption(row) ? chargeOf(row, other, quotaPerUnit) : undefined;
  const chain = other.admin_info?.use_channel ?? [];
  const facts: readonly (readonly [string, ReactNode])[] = [
    [t("type"), <TypeMark row={row} t={t} />],
    [t("status"), other.status_code > 0 && `${other.status_code} ${other.error_code ?? ""}`],
    [t("repeated"), other.repeated > 0 && t("repeatedCount", { count: other.repeated })],
    [t("duration"), charge && <Durations row={row} t={t} />],
    [t("user"), isAdmin && row.username],
    [t("ip"), row.ip],
    [t("group"), row.group],
    [t("upstreamModel"), other.admin_info?.upstream_model ?? ""],
    [t("message"), row.content],
  ];
  return (
    <div className="log-detail">
      {charge && (
        <section>
          <h3>{t("charge")}</h3>
          <ChargeTable charge={charge} quota={row.quota} />
          <Notes other={other} />
        </section>
      )}
      <Events other={other} />
      <Route row={row} chain={chain} isAdmin={isAdmin} />
      <section>
        <h3>{t("who")}</h3>
        <dl>
          {row.request_id !== "" && (
            <>
              <dt>{t("requestId")}</dt>
              <dd>
                <code className="mono">{row.request_id}</code>
                <CopyButton text={row.request_id} label={t("copyRequestId")} />
              </dd>
            </>
          )}
          {facts
            .filter(([, value]) => Boolean(value))
            .map(([label, value]) => (
              <div key={label} style={{ display: "contents" }}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </div>
            ))}
        </dl>
      </section>
    </div>
  );
}
