import { SimpleGrid, Text } from "@chakra-ui/react";
import type { LogRow } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { FailureText } from "../../../shared/failures/failure-text.tsx";
import { logAddress } from "../../../shared/usage/log-link.ts";
import { Money } from "../../../ui/display/money.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { failuresQuery, recentQuery } from "../api.ts";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { useTexts } from "../texts.ts";

function Time({ row }: { readonly row: LogRow }) {
  return (
    <Text color="fg.muted" width="24" flex="none">
      <When at={row.created_at} />
    </Text>
  );
}

function Model({ row }: { readonly row: LogRow }) {
  return (
    <Text fontFamily="mono" flex="1" minW="0" truncate>
      {row.model_name}
    </Text>
  );
}

function Requests() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(recentQuery);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel
      title={t("recent")}
      count={data?.items.length}
      empty={t("recentEmpty")}
      link={
        <Link className="link" to="/log">
          {t("openLog")}
        </Link>
      }
    >
      {data?.items.map((row) => (
        <PanelRow key={row.id}>
          <Time row={row} />
          <Model row={row} />
          <Text fontWeight="medium">
            <Money quota={row.quota} isPrecise />
          </Text>
        </PanelRow>
      ))}
    </Panel>
  );
}

function Failures() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(failuresQuery);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel
      title={t("failures")}
      count={data?.items.length}
      empty={t("failuresEmpty")}
      link={
        <Link className="link" to={logAddress({ range: "30d", isErrors: true })}>
          {t("openFailures")}
        </Link>
      }
    >
      {data?.items.map((row) => (
        <PanelRow key={row.id}>
          <Time row={row} />
          <Model row={row} />
          <FailureText row={row} />
        </PanelRow>
      ))}
    </Panel>
  );
}

/** The caller's newest requests and failures. */
export function Recent() {
  return (
    <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" alignItems="start">
      <Requests />
      <Failures />
    </SimpleGrid>
  );
}
