import type { WebhookDelivery } from "@fairway/wire";
import { milliseconds } from "../../../lib/format.ts";
import { Facts } from "../../../ui/display/facts.tsx";
import { Icon } from "../../../ui/display/icon.tsx";
import { RowButton } from "../../../ui/display/row-button.tsx";
import { When } from "../../../ui/display/when.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import type { Column } from "../../../ui/grid/grid-props.ts";
import { redeliver } from "../api.ts";
import type { Owner } from "../owner.ts";
import { SeverityMark } from "../severity.tsx";
import { useTexts, type Texts } from "../texts.ts";
import { DeliveryState } from "./endpoint-state.tsx";

function toSeconds(ms: number): number {
  return Math.floor(ms / 1_000);
}

export function buildDeliveryColumns(t: Texts): Column<WebhookDelivery>[] {
  return [
    { id: "when", header: t("when"), width: 104, cell: (row) => <When at={toSeconds(row.created_ms)} /> },
    {
      id: "type",
      header: t("type"),
      width: 200,
      isElastic: true,
      isTitle: true,
      rank: 0,
      cell: (row) => <code className="cut">{row.type === "" ? t("typeUnknown") : row.type}</code>,
    },
    {
      id: "severity",
      header: t("severity"),
      width: 100,
      isMinor: true,
      cell: (row) => <SeverityMark severity={row.severity} />,
    },
    { id: "state", header: t("deliveryState"), width: 110, rank: 0, cell: (row) => <DeliveryState row={row} /> },
    { id: "attempts", header: t("attempts"), width: 80, align: "end", cell: (row) => row.attempts },
    {
      id: "status",
      header: t("status"),
      width: 76,
      align: "end",
      cell: (row) => (row.last_status === 0 ? <span className="soft">–</span> : row.last_status),
    },
    {
      id: "error",
      header: t("error"),
      width: 220,
      isElastic: true,
      isMinor: true,
      cell: (row) => <span className="cut mono">{row.last_error}</span>,
    },
  ];
}

/** Everything about one delivery. */
export function DeliveryDetail({ row }: { readonly row: WebhookDelivery }) {
  const t = useTexts();
  return (
    <div className="facts">
      <Facts
        title={t("delivery")}
        items={[
          [t("eventId"), <code key="id">{`evt_${row.event_id}`}</code>],
          [t("redelivery"), row.redelivery > 0 ? row.redelivery : ""],
          [t("nextTry"), row.state === "waiting" ? <When key="next" at={toSeconds(row.next_at_ms)} /> : ""],
          [t("status"), row.last_status > 0 ? row.last_status : ""],
          [t("took"), row.attempts > 0 ? milliseconds(row.last_ms) : ""],
          [
            t("error"),
            row.last_error === "" ? (
              ""
            ) : (
              <span key="error" className="mono">
                {row.last_error}
              </span>
            ),
          ],
        ]}
      />
    </div>
  );
}

interface RedeliverProps {
  readonly owner: Owner;
  readonly endpoint: number;
  readonly row: WebhookDelivery;
}

/** Sends the event again, under its id. */
export function Redeliver({ owner, endpoint, row }: RedeliverProps) {
  const t = useTexts();
  const again = () =>
    void redeliver(owner, endpoint, row.id).then(() => toast("success", t("redelivered")), toastProblem);
  return (
    <RowButton label={t("redeliver")} onClick={again}>
      <Icon name="refresh" size={15} />
    </RowButton>
  );
}
