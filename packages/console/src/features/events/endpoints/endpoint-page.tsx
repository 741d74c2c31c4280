import type { Webhook, WebhookDelivery } from "@fairway/wire";
import { Button, Flex } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link, useParams } from "react-router";
import { isRowId, RowPage } from "../../../shared/row/row-page.tsx";
import { Icon } from "../../../ui/display/icon.tsx";
import { IconButton } from "../../../ui/display/icon-button.tsx";
import { EmptyTeach } from "../../../ui/feedback/empty.tsx";
import { DetailToggle } from "../../../ui/grid/detail-toggle.tsx";
import { FilterBar, FilterSelect } from "../../../ui/grid/filter-bar.tsx";
import { LIST_DEFAULTS, useList } from "../../../ui/grid/use-list.ts";
import { useOpened } from "../../../ui/grid/use-opened.ts";
import { ListPage } from "../../../ui/list/list-page.tsx";
import { MenuButton } from "../../../ui/menu/menu-button.tsx";
import { deliveriesQuery, shownEndpointQuery, typesQuery } from "../api.ts";
import type { Owner } from "../owner.ts";
import { useTexts } from "../texts.ts";
import { buildDeliveryColumns, DeliveryDetail, Redeliver } from "./deliveries.tsx";
import { useEndpointEntries } from "./endpoint-entries.ts";
import { EndpointFacts } from "./endpoint-facts.tsx";
import { DELIVERY_TEXT, EndpointState } from "./endpoint-state.tsx";
import { NewKey } from "./new-key.tsx";
import { RecoverDialog } from "./recover-dialog.tsx";
import { TestButton, TestReport, useTest } from "./test-report.tsx";

const DEFAULTS = { ...LIST_DEFAULTS, state: "", type: "" };

/** One endpoint: how it does, and what became of each event. */
export function EndpointPage({ owner }: { readonly owner: Owner }) {
  const t = useTexts();
  const id = Number(useParams()["id"]);
  const query = useQuery({ ...shownEndpointQuery(owner, id), enabled: isRowId(id) });
  const missing = {
    key: "webhook_not_found",
    icon: "send",
    title: t("missingTitle"),
    body: t("missingBody"),
    list: { path: owner.path, label: t("allEndpoints") },
  } as const;
  return (
    <RowPage title={t(owner.title)} id={id} row={query.data} query={query} missing={missing}>
      {(row) => <Shown key={row.id} row={row} owner={owner} />}
    </RowPage>
  );
}

type List = ReturnType<typeof useList<typeof DEFAULTS>>;

function Filters({ list, onRefresh }: { readonly list: List; onRefresh(): void }) {
  const t = useTexts();
  const { state, filter } = list;
  const types = useQuery(typesQuery).data ?? [];
  return (
    <FilterBar
      main={
        <FilterSelect
          isMain
          label={t("deliveryState")}
          value={state.state}
          choices={[
            { value: "", label: t("anyState") },
            ...Object.entries(DELIVERY_TEXT).map(([value, text]) => ({ value, label: t(text) })),
          ]}
          onChange={(value) => filter({ state: value })}
        />
      }
      isActive={list.isFiltered}
      onClear={list.clear}
      aside={
        <IconButton variant="outline" label={t("refresh")} onClick={onRefresh}>
          <Icon name="refresh" />
        </IconButton>
      }
    >
      <FilterSelect
        label={t("type")}
        width="200px"
        value={state.type}
        choices={[{ value: "", label: t("anyType") }, ...types.map(({ type }) => ({ value: type, label: type }))]}
        onChange={(type) => filter({ type })}
      />
    </FilterBar>
  );
}

function Shown({ row, owner }: { readonly row: Webhook; readonly owner: Owner }) {
  const t = useTexts();
  const list = useList(DEFAULTS);
  const { state, type } = list.state;
  const test = useTest(owner, row.id);
  const [isRecovering, setRecovering] = useState(false);
  const query = useQuery(deliveriesQuery(owner, { id: row.id, state, type }, list));
  const { opened, toggle } = useOpened<WebhookDelivery>();
  const columns = useMemo(() => buildDeliveryColumns(t), [t]);
  return (
    <ListPage
      title={row.name}
      aside={<EndpointState row={row} />}
      pageActions={<Actions row={row} owner={owner} test={test} onRecover={() => setRecovering(true)} />}
      notice={
        <Flex direction="column" gap="3" mb="4">
          <NewKey endpoint={`${owner.name} ${row.id}`} />
          <TestReport test={test} isUntested={row.status === "untested"} />
          <EndpointFacts row={row} />
        </Flex>
      }
      filters={<Filters list={list} onRefresh={() => void query.refetch()} />}
      list={list}
      query={query}
      columns={columns}
      rowId={(delivery) => delivery.id}
      rowName={(delivery) => `${delivery.type} ${delivery.event_id}`}
      density="compact"
      onOpen={toggle}
      opened={opened}
      detail={(delivery) => <DeliveryDetail row={delivery} />}
      actions={(delivery) => (
        <div className="row-actions">
          <Redeliver owner={owner} endpoint={row.id} row={delivery} />
          <DetailToggle isOpen={opened === delivery.id} onToggle={() => toggle(delivery)} />
        </div>
      )}
      teach={<EmptyTeach icon="send" title={t("noDeliveries")} body={t("noDeliveriesBody")} />}
    >
      {isRecovering && <RecoverDialog owner={owner} id={row.id} onClose={() => setRecovering(false)} />}
    </ListPage>
  );
}

interface ActionsProps {
  readonly row: Webhook;
  readonly owner: Owner;
  readonly test: ReturnType<typeof useTest>;
  onRecover(): void;
}

function Actions({ row, owner, test, onRecover }: ActionsProps) {
  const t = useTexts();
  const entries = useEndpointEntries(row, owner);
  return (
    <>
      <Button asChild variant="outline">
        <Link to={owner.path}>{t("allEndpoints")}</Link>
      </Button>
      <TestButton test={test} isMain={row.status === "untested" || row.status === "disabled"} />
      <Button asChild variant="outline">
        <Link to={`${owner.path}/edit/${row.id}`}>{t("editRow")}</Link>
      </Button>
      <MenuButton
        label={t("more")}
        variant="outline"
        entries={[{ id: "recover", label: t("recover"), icon: "refresh", run: onRecover }, ...entries]}
      >
        <Icon name="dots" />
      </MenuButton>
    </>
  );
}
