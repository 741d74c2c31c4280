import { INSTALLATION_TEAM, SERVICE_ACCOUNT_STATUS, type ServiceAccount } from "@fairway/wire";
import { Button, Stack, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "../../../lib/use-form.ts";
import { Icon } from "../../../ui/display/icon.tsx";
import { Mark } from "../../../ui/display/mark.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { When } from "../../../ui/display/when.tsx";
import { ask } from "../../../ui/feedback/ask.ts";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { TextField } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form/form-dialog.tsx";
import { RowMenu } from "../../../ui/menu/row-menu.tsx";
import { useTexts } from "../texts.ts";
import {
  createServiceAccount,
  deleteServiceAccount,
  serviceAccountsQuery,
  switchServiceAccount,
} from "./service-accounts-api.ts";
import { ServiceTokensDialog } from "./service-tokens-dialog.tsx";

/** The team whose service accounts these are; those of the installation belong to `INSTALLATION_TEAM`. */
interface ServicePlace {
  readonly team: number;
}

interface AccountRowProps extends ServicePlace {
  readonly account: ServiceAccount;
  onTokens(): void;
}

function AccountRow({ team, account, onTokens }: AccountRowProps) {
  const t = useTexts();
  const { id, name, description, status, keys, access_tokens: tokens, last_used_at: used } = account;
  const isOn = status === SERVICE_ACCOUNT_STATUS.on;
  const isOperator = team === INSTALLATION_TEAM;
  const turn = () =>
    void switchServiceAccount(team, id, isOn ? SERVICE_ACCOUNT_STATUS.off : SERVICE_ACCOUNT_STATUS.on).then(
      () => toast("success", t(isOn ? (isOperator ? "operatorOff" : "serviceOff") : "serviceOn", { name })),
      toastProblem,
    );
  const remove = async () => {
    const body = t(isOperator ? "operatorDeleteBody" : "serviceDeleteBody");
    const question = { title: t("serviceDeleteTitle", { name }), body, isDangerous: true };
    if (!(await ask({ ...question, confirm: t("deleteKey") }))) return;
    await deleteServiceAccount(team, id).then(() => toast("success", t("serviceDeleted", { name })), toastProblem);
  };
  return (
    <PanelRow>
      <Text flex="1" minW="10rem" overflowWrap="anywhere">
        <bdi>{name}</bdi> {description !== "" && <span className="soft">{description}</span>}
      </Text>
      {!isOn && <Mark kind="stop" label={t("off")} />}
      <Text color="fg.muted">{isOperator ? t("operatorHolds", { tokens }) : t("serviceHolds", { keys, tokens })}</Text>
      <Text color="fg.muted">
        {t("lastUse")}: {used === 0 ? t("never") : <When at={used} />}
      </Text>
      <RowMenu
        name={name}
        entries={[
          { id: "tokens", label: t("accessTokens"), icon: "key", run: onTokens },
          { id: "turn", label: t(isOn ? "disable" : "enable"), icon: isOn ? "pause" : "play", run: turn },
          undefined,
          { id: "delete", label: t("deleteKey"), icon: "trash", isDangerous: true, run: () => void remove() },
        ]}
      />
    </PanelRow>
  );
}

function NewAccountDialog({ team, onClose }: ServicePlace & { onClose(): void }) {
  const t = useTexts();
  const form = useForm({
    initial: { name: "", description: "" },
    check: ({ name }) => (name.trim() === "" ? { name: t("nameMissing") } : {}),
    save: async ({ name, description }) => {
      const made = await createServiceAccount(team, { name: name.trim(), description: description.trim() });
      toast("success", t("serviceMade", { name: made.name }));
      onClose();
    },
    onProblem: toastProblem,
  });
  return (
    <FormDialog
      title={t("addService")}
      submitLabel={t("create")}
      isSaving={form.isSaving}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <Stack gap="4">
        <TextField label={t("name")} isRequired placeholder={t("serviceNameHint")} {...form.input("name")} />
        <TextField label={t("description")} {...form.input("description")} />
      </Stack>
    </FormDialog>
  );
}

/** Holders of keys and access tokens that are no people. */
export function ServiceAccounts({ team }: ServicePlace) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(serviceAccountsQuery(team));
  const [isAdding, setAdding] = useState(false);
  const [shown, setShown] = useState<ServiceAccount>();
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <>
      <Panel
        title={t("serviceAccounts")}
        count={data?.length}
        empty={t(team === INSTALLATION_TEAM ? "noOperators" : "noServices")}
        link={
          <Button size="xs" variant="outline" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            {t("addService")}
          </Button>
        }
      >
        {data?.map((account) => (
          <AccountRow key={account.id} team={team} account={account} onTokens={() => setShown(account)} />
        ))}
      </Panel>
      {isAdding && <NewAccountDialog team={team} onClose={() => setAdding(false)} />}
      {shown && <ServiceTokensDialog team={team} account={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}
