import { Box, Text } from "@chakra-ui/react";
import type { Forecast } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useNow } from "../../../lib/now.ts";
import { Money } from "../../../ui/display/money.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { useTexts } from "../texts.ts";
import { forecastQuery } from "./api.ts";
import { describeRest } from "./rest.ts";

const MOST = 8;
const KIND_TEXT = { token: "scopeToken", user: "scopeUser", channel: "scopeChannel" } as const;

function ForecastRow({ forecast }: { readonly forecast: Forecast }) {
  const t = useTexts();
  const now = useNow();
  const { kind, id, name, left, per_day: perDay, runs_out_at: at } = forecast;
  const { text, days, isUrgent } = describeRest(at, now);
  return (
    <PanelRow>
      <Box flex="1" minW="140px">
        <Text as="span" color="fg.muted">
          {t(KIND_TEXT[kind])}
        </Text>{" "}
        <Link className="link" to={`/${kind}/${id}`}>
          <bdi>{name === "" ? `#${id}` : name}</bdi>
        </Link>
      </Box>
      <Text color={isUrgent ? "fg.error" : "fg.muted"} fontWeight={isUrgent ? "medium" : "normal"}>
        {t(text, { days })}
      </Text>
      <Text color="fg.muted" width="full">
        <Money quota={Math.max(0, left)} /> {t("restLeft")} · <Money quota={perDay} /> {t("restPerDay")} ·{" "}
        <When at={at} />
      </Text>
    </PanelRow>
  );
}

/** Keys, users and balances of channels that run out soon at the pace of the last days. */
export function RunsOutPanel() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(forecastQuery);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const rest = (data?.length ?? 0) - MOST;
  return (
    <Panel title={t("runsOut")} count={data?.length} empty={t("runsOutNone")}>
      {data?.slice(0, MOST).map((one) => (
        <ForecastRow key={`${one.kind} ${one.id}`} forecast={one} />
      ))}
      {rest > 0 && (
        <PanelRow>
          <Text color="fg.muted">{t("runsOutMore", { count: rest })}</Text>
        </PanelRow>
      )}
    </Panel>
  );
}
