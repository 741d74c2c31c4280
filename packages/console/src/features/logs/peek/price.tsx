import type { ExplainedPrice, LogRow } from "@fairway/wire";
import { formatCount, formatDecimal, preciseDollars, pricePerMillion } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { Money, useQuotaDisplay } from "../../../ui/display/money.tsx";
import { explainCharge, type Charge } from "./charge.ts";
import type { LogOther } from "../other.ts";
import { useTexts } from "./texts.ts";

const INPUTS = {
  input_tokens: "inputTokens",
  output_tokens: "outputTokens",
  cache_tokens: "inputCached",
  cache_ratio: "ratioCached",
  cache_creation_tokens: "inputCacheWrite",
  cache_creation_ratio: "ratioCacheWrite",
  image_tokens: "inputImage",
  image_ratio: "ratioImage",
  audio_input: "inputAudio",
  audio_ratio: "ratioAudio",
  audio_output: "outputAudio",
  audio_completion_ratio: "ratioAudioOutput",
  model_ratio: "ratioModel",
  completion_ratio: "ratioCompletion",
  group_ratio: "ratioGroup",
  model_price: "priceModel",
} as const;

const SOURCES = {
  upstream: "sourceUpstream",
  counted: "sourceCounted",
  mixed: "sourceMixed",
  operator: "sourceOperator",
  "self-use": "sourceSelfUse",
  "built-in defaults": "sourceBuiltIn",
  "option GroupRatio": "sourceGroupRatio",
  "the price at that time": "sourceThen",
} as const;

const LIST_PRICE = "list price of ";

function useWords() {
  const t = useTexts();
  return {
    inputName: (name: string) => (Object.hasOwn(INPUTS, name) ? t(INPUTS[name as keyof typeof INPUTS]) : name),
    sourceName(source: string): string {
      if (source.startsWith(LIST_PRICE)) return t("sourceList", { name: source.slice(LIST_PRICE.length) });
      return Object.hasOwn(SOURCES, source) ? t(SOURCES[source as keyof typeof SOURCES]) : source;
    },
  };
}

function ChargeLines({ charge }: { readonly charge: Charge }) {
  const t = useTexts();
  const language = useLanguage();
  if (charge.kind === "call") {
    return (
      <tr>
        <td>{t("perCall", { price: pricePerMillion(charge.price, language) })}</td>
        <td className="end">{preciseDollars(charge.price, language)}</td>
      </tr>
    );
  }
  return charge.lines.map(({ part, tokens, perMillion }) => (
    <tr key={part}>
      <td>
        {t(part)}{" "}
        <span className="soft">
          {t("chargeLine", { count: formatCount(tokens, language), price: pricePerMillion(perMillion, language) })}
        </span>
      </td>
      <td className="end">{preciseDollars((tokens * perMillion) / 1_000_000, language)}</td>
    </tr>
  ));
}

/** Lines that complete the total. */
function OtherLines({ charge: { groupRatio, byGroup, rest, isRounding } }: { readonly charge: Charge }) {
  const t = useTexts();
  const language = useLanguage();
  return (
    <>
      <tr>
        <td className="soft">{t("groupRatio", { ratio: groupRatio })}</td>
        <td className="end">{byGroup !== 0 && preciseDollars(byGroup, language)}</td>
      </tr>
      {rest !== 0 && (
        <tr data-testid="charge-rest">
          <td className="soft">{t(isRounding ? "lineRounding" : "lineRest")}</td>
          <td className="end">{preciseDollars(rest, language)}</td>
        </tr>
      )}
    </>
  );
}

/** Shows every factor with its source, for those who check the sum. */
function Formula({ price }: { readonly price: ExplainedPrice }) {
  const t = useTexts();
  const language = useLanguage();
  const { inputName, sourceName } = useWords();
  if (price.inputs.length === 0) return null;
  return (
    <details className="log-formula">
      <summary>{t("formula")}</summary>
      <code className="mono">{price.formula}</code>
      <table className="log-table">
        <thead>
          <tr>
            <th scope="col">{t("input")}</th>
            <th scope="col" className="end">
              {t("value")}
            </th>
            <th scope="col">{t("source")}</th>
          </tr>
        </thead>
        <tbody>
          {price.inputs.map(({ name, value, source }) => (
            <tr key={name}>
              <td>
                {inputName(name)} <code className="mono soft">{name}</code>
              </td>
              <td className="end">{formatDecimal(value, language, 0, 6)}</td>
              <td>{sourceName(source)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** The amount reserved before the call and returned after it. */
function Reservation({ price }: { readonly price: ExplainedPrice }) {
  const t = useTexts();
  const { reserved, charged } = price;
  if (reserved < 0) return null;
  const rest = reserved - charged;
  return (
    <p className="log-reservation soft">
      {t("reserved")} <Money quota={reserved} isPrecise /> → {t("charged")} <Money quota={charged} isPrecise />
      {rest > 0 && (
        <>
          {" · "}
          {t("returned")} <Money quota={rest} isPrecise />
        </>
      )}
    </p>
  );
}

interface PriceProps {
  readonly row: LogRow;
  readonly other: LogOther;
  readonly price: ExplainedPrice | undefined;
}

/** Explains the price: the sum line by line, the factors with their sources, and the reservation. */
export function Price({ row, other, price }: PriceProps) {
  const t = useTexts();
  const { quotaPerUnit } = useQuotaDisplay();
  const charge = explainCharge(row, other, quotaPerUnit);
  const isCounted = ["counted", "mixed", "estimated"].includes(other.usage_source ?? "");
  return (
    <section>
      <h3>{t("whyPrice")}</h3>
      <table className="log-table log-charge">
        <tbody>
          {charge && <ChargeLines charge={charge} />}
          {charge && <OtherLines charge={charge} />}
          <tr className="log-charge-total">
            <td>{t("total")}</td>
            <td className="end" data-testid="charge-total">
              <Money quota={row.quota} isPrecise />
            </td>
          </tr>
        </tbody>
      </table>
      {isCounted && <p className="log-note">{t("counted")}</p>}
      {other.cache_hit && <p className="log-note">{t("repeatCharge")}</p>}
      {other.self_use && <p className="log-note">{t("selfUse")}</p>}
      {price && <Reservation price={price} />}
      {price && <Formula price={price} />}
    </section>
  );
}

/** Says that failed calls cost nothing. */
export function NotCharged() {
  const t = useTexts();
  return (
    <section>
      <h3>{t("whyPrice")}</h3>
      <p>{t("notCharged")}</p>
    </section>
  );
}
