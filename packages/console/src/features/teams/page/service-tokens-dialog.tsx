import { ACCESS_SCOPES, INSTALLATION_TEAM, type AccessScope, type ServiceAccount } from "@fairway/wire";
import { Button, Flex, Stack, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { useForm } from "../../../lib/use-form.ts";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { When } from "../../../ui/display/when.tsx";
import { Modal } from "../../../ui/feedback/modal.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { ChipsField } from "../../../ui/form/chips-field.tsx";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { useTexts } from "../texts.ts";
import { createServiceToken, deleteServiceToken, serviceTokensQuery } from "./service-accounts-api.ts";

const DAY = 86_400;
const DAYS = [7, 30, 90, 365] as const;
const TEAM_SCOPES = ["teams:read", "teams:write"] as const;
const ROTATION_GRACE_SECONDS = DAY;

interface TokensProps {
  /** `INSTALLATION_TEAM` = of the installation. */
  readonly team: number;
  readonly account: ServiceAccount;
}

/** Access tokens of a service account; a new one of the same name replaces the earlier one in a day. */
export function ServiceTokensDialog({ team, account, onClose }: TokensProps & { onClose(): void }) {
  const t = useTexts();
  const [made, setMade] = useState<string>();
  return (
    <Modal
      title={t("accessTokensOf", { name: account.name })}
      lead={t(team === INSTALLATION_TEAM ? "operatorTokensLead" : "accessTokensLead")}
      onClose={onClose}
      footer={<Button onClick={onClose}>{t("done")}</Button>}
    >
      <Stack gap="4">
        {made !== undefined && (
          <Flex align="center" gap="2" bg="fairway.subtle" borderRadius="l2" px="3" py="1.5">
            <Text fontFamily="mono" textStyle="sm" flex="1" overflowWrap="anywhere" data-testid="service-token">
              {made}
            </Text>
            <CopyButton text={made} label={t("copyAccessToken")} />
          </Flex>
        )}
        <TokenLines team={team} account={account} />
        <NewToken team={team} account={account} onMade={setMade} />
      </Stack>
    </Modal>
  );
}

function TokenLines({ team, account }: TokensProps) {
  const t = useTexts();
  const { data } = useQuery(serviceTokensQuery(team, account.id));
  const end = (id: number, name: string) =>
    void deleteServiceToken(team, account.id, id).then(
      () => toast("success", t("accessTokenEnded", { name })),
      toastProblem,
    );
  return data?.map(({ id, name, hint, scopes, expires_at: at }) => (
    <Flex key={id} align="center" gap="3" wrap="wrap" textStyle="sm">
      <Text flex="1" minW="10rem" overflowWrap="anywhere">
        <bdi>{name}</bdi> <span className="soft mono">{hint}…</span>
      </Text>
      <Text color="fg.muted">{scopes.join(", ")}</Text>
      <Text color="fg.muted">
        {t("until")} <When at={at} />
      </Text>
      <Button size="xs" variant="outline" aria-label={`${t("revoke")}: ${name}`} onClick={() => end(id, name)}>
        {t("revoke")}
      </Button>
    </Flex>
  ));
}

function readScopes(texts: readonly string[]): AccessScope[] {
  return ACCESS_SCOPES.filter((scope) => texts.includes(scope));
}

function NewToken({ team, account, onMade }: TokensProps & { onMade(token: string): void }) {
  const t = useTexts();
  const form = useForm({
    initial: { name: "", days: "90", scopes: team === INSTALLATION_TEAM ? [] : (["teams:read"] as string[]) },
    check: ({ name, scopes }) => ({
      ...(name.trim() === "" && { name: t("nameMissing") }),
      ...(readScopes(scopes).length === 0 && { scopes: t("scopesMissing") }),
    }),
    save: async ({ name, days, scopes }) => {
      const terms = { expires_in: Number(days) * DAY, grace_seconds: ROTATION_GRACE_SECONDS };
      onMade(await createServiceToken(team, account.id, { name: name.trim(), scopes: readScopes(scopes), ...terms }));
      form.set("name", "");
    },
    onProblem: toastProblem,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void form.submit();
  };
  const { values, set } = form;
  return (
    <form noValidate onSubmit={submit}>
      <Stack gap="3">
        <TextField label={t("accessTokenName")} help={t("accessTokenNameHelp")} {...form.input("name")} />
        {team === INSTALLATION_TEAM ? (
          <ChipsField
            label={t("scopes")}
            help={t("scopesHelp")}
            values={values.scopes}
            suggestions={ACCESS_SCOPES}
            duplicateText={t("repeated")}
            error={form.errors.scopes}
            onChange={(scopes) => set("scopes", scopes)}
          />
        ) : (
          <SelectField
            label={t("accessTokenRight")}
            value={values.scopes[0] ?? ""}
            choices={TEAM_SCOPES.map((scope) => ({
              value: scope,
              label: t(scope === "teams:read" ? "mayRead" : "mayManage"),
            }))}
            onChange={(next) => set("scopes", [next])}
          />
        )}
        <SelectField
          label={t("worksFor")}
          value={values.days}
          choices={DAYS.map((days) => ({ value: String(days), label: t("days", { days }) }))}
          onChange={(days) => set("days", days)}
        />
        <Flex>
          <Button type="submit" size="sm" variant="outline" loading={form.isSaving}>
            {t("makeAccessToken")}
          </Button>
        </Flex>
      </Stack>
    </form>
  );
}
