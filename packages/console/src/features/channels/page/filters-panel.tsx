import { Box, Button, Text } from "@chakra-ui/react";
import type { LearnedFilter } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { toastProblem } from "../../../ui/feedback/toaster.ts";
import { useTexts } from "./texts.ts";
import { filtersQuery, forgetFilters } from "./api.ts";

function Forget(props: { readonly id: number; readonly one?: LearnedFilter }) {
  const t = useTexts();
  const { id, one } = props;
  const [isBusy, setBusy] = useState(false);
  const forget = () => {
    setBusy(true);
    void forgetFilters(id, one)
      .catch(toastProblem)
      .finally(() => setBusy(false));
  };
  return (
    <Button
      size="xs"
      variant={one ? "ghost" : "outline"}
      disabled={isBusy}
      aria-label={one && t("filterForgetNamed", { name: one.name, model: one.model })}
      onClick={forget}
    >
      {t(one ? "filterForget" : "filterForgetAll")}
    </Button>
  );
}

/** Shows names that the channel's host refused lately; nothing if there are none. */
export function FiltersPanel({ id }: { readonly id: number }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(filtersQuery(id));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  if (!data || data.length === 0) return null;
  return (
    <Panel title={t("filters")} count={data.length} empty={null} link={<Forget id={id} />}>
      <PanelRow>
        <Text color="fg.muted">{t("filtersNote")}</Text>
      </PanelRow>
      {data.map((one) => (
        <PanelRow key={`${one.model} ${one.name}`}>
          <Text as="code" fontFamily="mono" flex="1" minW="0" overflowWrap="anywhere">
            {one.name}
          </Text>
          <Forget id={id} one={one} />
          <Box color="fg.muted" width="full" overflowWrap="anywhere">
            {one.host} · {one.model} · {t("filterSince")} <When at={one.since} /> · {t("filterUntil")}{" "}
            <When at={one.until} />
          </Box>
        </PanelRow>
      ))}
    </Panel>
  );
}
