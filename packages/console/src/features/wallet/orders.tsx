import { Box, Button, Text } from "@chakra-ui/react";
import type { Order } from "@fairway/wire";
import { useInfiniteQuery } from "@tanstack/react-query";
import { formatDecimal } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { Mark, type MarkKind } from "../../ui/display/mark.tsx";
import { Money } from "../../ui/display/money.tsx";
import { Panel, PanelRow } from "../../ui/display/panel.tsx";
import { When } from "../../ui/display/when.tsx";
import { LoadFailed } from "../../ui/feedback/empty.tsx";
import { ordersQuery } from "./api.ts";
import { useTexts } from "./texts.ts";

const STATES: Readonly<Record<string, { mark: MarkKind; text: OrderText }>> = {
  pending: { mark: "underway", text: "orderPending" },
  success: { mark: "go", text: "orderPaid" },
  expired: { mark: "parked", text: "orderExpired" },
  failed: { mark: "stop", text: "orderFailed" },
};

type OrderText = "orderPending" | "orderPaid" | "orderExpired" | "orderFailed";

function OrderRow({ order }: { readonly order: Order }) {
  const t = useTexts();
  const language = useLanguage();
  const state = STATES[order.status];
  return (
    <PanelRow>
      <Text color="fg.muted" width="24" flex="none">
        <When at={order.create_time} />
      </Text>
      <Box flex="1" minW="8rem">
        {state ? <Mark kind={state.mark} label={t(state.text)} /> : order.status}
      </Box>
      <Text fontWeight="medium">
        <Money quota={order.quota} />
      </Text>
      <Text color="fg.muted" width="full" overflowWrap="anywhere">
        {t("orderFacts", {
          money: formatDecimal(order.money, language, 2),
          method: order.payment_method || "–",
          number: order.trade_no,
        })}
      </Text>
    </PanelRow>
  );
}

/** The caller's purchases, newest first, with their status. */
export function Orders() {
  const t = useTexts();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(ordersQuery);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const orders = data?.pages.flatMap(({ items }) => items);
  return (
    <Box>
      <Panel title={t("orders")} count={orders?.length} empty={t("ordersNone")}>
        {orders?.map((order) => (
          <OrderRow key={order.id} order={order} />
        ))}
      </Panel>
      {hasNextPage && (
        <Button mt="2" size="sm" variant="outline" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t("ordersMore")}
        </Button>
      )}
    </Box>
  );
}
