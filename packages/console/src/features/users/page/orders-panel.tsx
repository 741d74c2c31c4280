import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Money } from "../../../ui/display/money.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { useTexts } from "../texts.ts";
import { ordersQuery } from "./api.ts";

/** Orders of the user, newest first. */
export function OrdersPanel({ id }: { readonly id: number }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(ordersQuery(id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel title={t("orders")} count={data?.items.length} empty={t("ordersNone")}>
      {data?.items.map((order) => (
        <PanelRow key={order.id}>
          <Text color="fg.muted" width="24" flex="none">
            <When at={order.create_time} />
          </Text>
          <Text flex="1" minW="6rem" overflowWrap="anywhere">
            {order.trade_no} <span className="soft">{order.status}</span>
          </Text>
          <Text fontWeight="medium">
            <Money quota={order.quota} />
          </Text>
        </PanelRow>
      ))}
    </Panel>
  );
}
