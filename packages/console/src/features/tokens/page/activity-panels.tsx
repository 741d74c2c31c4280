import { Stack, Text } from "@chakra-ui/react";
import { LOG_FACET_SAMPLE, type TokenFacts } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { UsageRange } from "../../../shared/usage/period.ts";
import { Money } from "../../../ui/display/money.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { activityQuery } from "./api.ts";
import { useActivityTexts } from "./texts.ts";

interface LineProps {
  readonly name: ReactNode;
  readonly sum: { readonly calls: number; readonly errors: number; readonly quota: number; readonly last: number };
}

function Line({ name, sum }: LineProps) {
  const t = useActivityTexts();
  return (
    <PanelRow>
      <Text fontFamily="mono" flex="1" minW="8rem" overflowWrap="anywhere">
        <bdi>{name}</bdi>
      </Text>
      <Text color="fg.muted">
        {t("calls", { count: sum.calls })}
        {sum.errors > 0 && `, ${t("failed", { count: sum.errors })}`}
      </Text>
      <Text color="fg.muted">
        <When at={sum.last} />
      </Text>
      <Text fontWeight="medium" minW="20" textAlign="end">
        <Money quota={sum.quota} />
      </Text>
    </PanelRow>
  );
}

/** The addresses that called with the token and the models that they called, over the range of the page. */
export function ActivityPanels(props: { readonly token: TokenFacts; readonly range: UsageRange }) {
  const t = useActivityTexts();
  const { data, error, refetch } = useQuery(activityQuery(props.token.id, props.range));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const count = data?.address_count ?? 0;
  return (
    <Stack gap="3">
      <Panel
        title={t("addresses")}
        count={data?.addresses.length}
        empty={t("unused")}
        isShortened
        link={count > 0 && <span className="soft">{t("addressesAll", { count })}</span>}
      >
        {data?.addresses.map((sum) => (
          <Line key={sum.ip} name={sum.ip || t("addressUnknown")} sum={sum} />
        ))}
      </Panel>
      <Panel title={t("models")} count={data?.models.length} empty={t("unused")} isShortened>
        {data?.models.map((sum) => (
          <Line key={sum.model} name={sum.model} sum={sum} />
        ))}
      </Panel>
      {data && !data.complete && (
        <Text textStyle="sm" color="fg.muted">
          {t("partial", { count: LOG_FACET_SAMPLE })}
        </Text>
      )}
    </Stack>
  );
}
