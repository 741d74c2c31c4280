import type { Webhook, WebhookDelivery } from "@fairway/wire";
import { Mark, type MarkKind } from "../../../ui/display/mark.tsx";
import { When } from "../../../ui/display/when.tsx";
import { useTexts } from "../texts.ts";

const STATES = {
  untested: { mark: "caution", text: "untested" },
  on: { mark: "go", text: "on" },
  off: { mark: "parked", text: "off" },
  disabled: { mark: "stop", text: "disabled" },
} as const satisfies Readonly<Record<Webhook["status"], { mark: MarkKind; text: string }>>;

/** Shows whether the endpoint gets events; one whose last attempts failed is not as green as others. */
export function EndpointState({ row }: { readonly row: Webhook }) {
  const t = useTexts();
  if (row.status === "on" && row.failures > 0) return <Mark kind="caution" label={t("failing")} />;
  const { mark, text } = STATES[row.status];
  return <Mark kind={mark} label={t(text)} title={row.disabled_reason === "" ? undefined : row.disabled_reason} />;
}

/** When the receiver last accepted a message. */
export function LastSuccess({ row }: { readonly row: Webhook }) {
  const t = useTexts();
  return row.succeeded_at > 0 ? <When at={row.succeeded_at} /> : <span className="soft">{t("never")}</span>;
}

export const DELIVERY_TEXT = { waiting: "waiting", done: "arrived", failed: "failed", skipped: "skipped" } as const;

const DELIVERY_MARKS: Readonly<Record<WebhookDelivery["state"], MarkKind>> = {
  waiting: "underway",
  done: "go",
  failed: "stop",
  skipped: "parked",
};

export function DeliveryState({ row }: { readonly row: WebhookDelivery }) {
  const t = useTexts();
  return <Mark kind={DELIVERY_MARKS[row.state]} label={t(DELIVERY_TEXT[row.state])} />;
}
