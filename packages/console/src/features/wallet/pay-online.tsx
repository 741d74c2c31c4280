import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useStatus } from "../../session/status.ts";
import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { queryClient } from "../../lib/query.ts";
import { ask } from "../../ui/feedback/ask.ts";
import { Presets, TextField } from "../../ui/form/field.tsx";
import { FormSection } from "../../ui/form/form-drawer.tsx";
import { useQuotaDisplay } from "../../ui/display/money.tsx";
import { problemText, toastProblem } from "../../ui/feedback/toaster.ts";
import { cardQuery, pay, priceQuery, refreshSelf, type Way } from "./api.ts";
import { useTexts } from "./texts.ts";

const DEBOUNCE_MS = 400;
/** While a payment may arrive, the balance is polled at this interval for this long. */
const WATCH = { everyMs: 3_000, forMs: 60_000 };
const USUAL = [10, 20, 50, 100];

function useDebounced(value: number): number {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function useBalanceWatch(since: number | undefined): void {
  useEffect(() => {
    if (since === undefined) return;
    const timer = setInterval(() => {
      if (performance.now() - since > WATCH.forMs) clearInterval(timer);
      else void refreshSelf();
    }, WATCH.everyMs);
    return () => clearInterval(timer);
  }, [since]);
}

/** Online payment with the methods that the operator configured; the price follows the amount. */
export function PayOnline() {
  const t = useTexts();
  const { enable_online_topup: hasForms, min_topup: least } = useStatus();
  const hasCard = useQuery(cardQuery).data?.enabled ?? false;
  const language = useLanguage();
  const { inCurrency } = useQuotaDisplay();
  const [text, setText] = useState(String(least));
  const [paidAt, setPaidAt] = useState<number>();
  useBalanceWatch(paidAt);
  const amount = useDebounced(/^\d{1,15}$/.test(text.trim()) ? Number(text) : 0);
  const isEnough = amount >= least;
  const ways: readonly { way: Way; label: string }[] = [
    ...(hasForms
      ? [
          { way: "zfb" as const, label: t("alipay") },
          { way: "wx" as const, label: t("wechat") },
        ]
      : []),
    ...(hasCard ? [{ way: "card" as const, label: t("card") }] : []),
  ];
  const [first] = ways;
  const price = useQuery({ ...priceQuery(amount, first?.way ?? "zfb"), enabled: first !== undefined && isEnough });
  if (first === undefined) {
    return (
      <FormSection title={t("payOnline")}>
        <Text textStyle="sm" color="fg.muted">
          {t("noWay")}
        </Text>
      </FormSection>
    );
  }
  const failure = price.error ? t("payFailed", { message: problemText(price.error) }) : undefined;

  async function start(way: Way): Promise<void> {
    try {
      const money = await queryClient.fetchQuery(priceQuery(amount, way));
      const count = formatCount(amount, language);
      const shown = inCurrency ? `$${count}` : count;
      const question = { title: t("payTitle", { money }), body: t("payBody", { amount: shown }), confirm: t("pay") };
      if (!(await ask(question))) return;
      await pay(amount, way);
      setPaidAt(performance.now());
    } catch (problem) {
      toastProblem(problem);
    }
  }

  return (
    <FormSection title={t("payOnline")}>
      <TextField
        label={t(inCurrency ? "amountDollars" : "amountQuota")}
        value={text}
        help={t("least", { min: formatCount(least, language) })}
        error={isEnough ? failure : t("least", { min: formatCount(least, language) })}
        onChange={setText}
      />
      {inCurrency && (
        <Presets
          label={t("amountPresets")}
          items={USUAL.map((dollars) => ({ label: `$${dollars}`, run: () => setText(String(dollars)) }))}
        />
      )}
      <Flex gap="2" wrap="wrap" align="center">
        {ways.map(({ way, label }) => (
          <Button key={way} size="sm" disabled={!isEnough || price.isError} onClick={() => void start(way)}>
            {label}
          </Button>
        ))}
        {price.data !== undefined && isEnough && <Text textStyle="sm">{t("youPay", { money: price.data })}</Text>}
      </Flex>
      {paidAt !== undefined && (
        <Text role="status" textStyle="sm" color="fg.muted">
          {t("waiting")}
        </Text>
      )}
    </FormSection>
  );
}
