import { Box, Input } from "@chakra-ui/react";
import { useState } from "react";
import { formatCount, parseAmount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { FieldFrame, Presets } from "./field.tsx";
import { useQuotaDisplay } from "../display/money.tsx";
import { useTexts } from "../texts.ts";

const PRESET_DOLLARS = [1, 10, 50, 100, 500, 1000];

interface MoneyFieldProps {
  readonly label: string;
  /** Quota units; undefined while the text is not an amount. */
  readonly quota: number | undefined;
  onChange(quota: number | undefined): void;
  readonly help?: string;
  readonly error?: string | undefined;
  readonly isDisabled?: boolean;
  /** The largest suggested amount, in quota units. */
  readonly most?: number;
}

/** Formats an amount in the unit of the field. */
function print(quota: number | undefined, unit: number): string {
  return quota === undefined ? "" : String(Number((quota / unit).toFixed(6)));
}

/** An amount in the operator's display unit; the value is always whole quota units. */
export function MoneyField(props: MoneyFieldProps) {
  const t = useTexts();
  const language = useLanguage();
  const { quotaPerUnit, inCurrency } = useQuotaDisplay();
  const unit = inCurrency ? quotaPerUnit : 1;
  const most = props.most ?? Infinity;
  const [draft, setDraft] = useState(() => print(props.quota, unit));
  const set = (text: string) => {
    setDraft(text);
    props.onChange(parseAmount(text, unit));
  };
  return (
    <Box>
      <FieldFrame {...props}>
        <Box position="relative" width="full">
          {inCurrency && (
            <Box position="absolute" insetStart="2.5" top="1.5" color="fg.muted" zIndex="1" pointerEvents="none">
              $
            </Box>
          )}
          <Input
            inputMode="decimal"
            autoComplete="off"
            ps={inCurrency ? "6" : "2.5"}
            value={draft}
            onChange={(event) => set(event.target.value)}
          />
        </Box>
      </FieldFrame>
      <Presets
        label={`${props.label}: ${t("actions")}`}
        isDisabled={props.isDisabled ?? false}
        items={PRESET_DOLLARS.filter((amount) => amount * quotaPerUnit <= most).map((amount) => ({
          label: `$${formatCount(amount, language)}`,
          run: () => set(print(amount * quotaPerUnit, unit)),
        }))}
      />
    </Box>
  );
}
