import { Button, Flex, Text } from "@chakra-ui/react";
import type { PlannedPrice, PricePlan } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Panel, PanelRow } from "../../../../ui/display/panel.tsx";
import { Stamp } from "../../../../ui/display/stamp.tsx";
import { toast, toastProblem } from "../../../../ui/feedback/toaster.ts";
import { useTexts } from "../../texts.ts";
import { cancelPricePlan, pricePlansQuery } from "./plans-api.ts";

function PriceText({ price }: { readonly price: PlannedPrice }) {
  const t = useTexts();
  const { model, input, output, cached, call } = price;
  const parts = [
    [t("input"), input],
    [t("output"), output],
    [t("cached"), cached],
    [t("perCall"), call],
  ].flatMap(([label, dollars]) => (dollars === undefined ? [] : [`${label} $${dollars}`]));
  return (
    <span>
      <bdi className="strong">{model}</bdi> {parts.join(" · ")}
    </span>
  );
}

function PlanRow({ plan }: { readonly plan: PricePlan }) {
  const t = useTexts();
  const [isRunning, setRunning] = useState(false);
  const cancel = () => {
    setRunning(true);
    cancelPricePlan(plan.id)
      .then(() => toast("success", t("planCancelled")), toastProblem)
      .finally(() => setRunning(false));
  };
  return (
    <PanelRow>
      <Text as="span" flex="none">
        <Stamp at={plan.starts_at} />
      </Text>
      <Flex direction="column" flex="1" minW="0" overflowWrap="anywhere">
        {plan.prices.map((price) => (
          <PriceText key={price.model} price={price} />
        ))}
      </Flex>
      <Text as="span" color="fg.muted">
        {plan.created_by}
      </Text>
      <Button size="xs" variant="outline" loading={isRunning} onClick={cancel}>
        {t("cancelPlan")}
      </Button>
    </PanelRow>
  );
}

/** Planned changes of prices, each with a button that takes it back; nothing while there are none. */
export function PlannedPrices() {
  const t = useTexts();
  const { data } = useQuery(pricePlansQuery);
  const planned = data?.filter(({ state }) => state === "planned") ?? [];
  if (planned.length === 0) return null;
  return (
    <Panel title={t("plannedPrices")} count={planned.length} empty="">
      {planned.map((plan) => (
        <PlanRow key={plan.id} plan={plan} />
      ))}
    </Panel>
  );
}
