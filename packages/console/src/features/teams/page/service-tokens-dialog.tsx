import type { ServiceAccount } from "@fairway/wire";
import { Button, Flex, Stack, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { useForm } from "../../../lib/use-form.ts";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { When } from "../../../ui/display/when.tsx";
import { Modal } from "../../../ui/feedback/modal.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { useTexts } from "../texts.ts";
import type { PartProps } from "./part.ts";
import { createServiceToken, deleteServiceToken, serviceTokensQuery } from "./service-accounts-api.ts";

const DAY = 86_400;
const DAYS = [7, 30, 90, 365] as const;
const SCOPES = ["teams:read", "teams:write"] as const;
const ROTATION_GRACE_SECONDS = DAY;

interface TokensProps extends Pick<PartProps, "team"> {
  readonly account: ServiceAccount;
}

/** Access tokens with which a program manages the team; a new one of the same name replaces the earlier one in a day. */
export function ServiceTokensDialog({ team, account, onClose }: TokensProps & { onClose(): void }) {
  const t = useTexts();
  const [made, setMade] = useState<string>();
  return (
    <Modal
      title={t("accessTokensOf", { name: account.name })}
      lead={t("accessTokensLead")}
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
  const { data } = useQuery(serviceTokensQuery(team.id, account.id));
  const end = (id: number, name: string) =>
    void deleteServiceToken(team.id, account.id, id).then(
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

function NewToken({ team, account, onMade }: TokensProps & { onMade(token: string): void }) {
  const t = useTexts();
  const form = useForm({
    initial: { name: "", days: "90", scope: "teams:read" as (typeof SCOPES)[number] },
    check: ({ name }) => (name.trim() === "" ? { name: t("nameMissing") } : {}),
    save: async ({ name, days, scope }) => {
      const terms = { expires_in: Number(days) * DAY, grace_seconds: ROTATION_GRACE_SECONDS };
      onMade(await createServiceToken(team.id, account.id, { name: name.trim(), scopes: [scope], ...terms }));
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
        <SelectField
          label={t("accessTokenRight")}
          value={values.scope}
          choices={SCOPES.map((scope) => ({
            value: scope,
            label: t(scope === "teams:read" ? "mayRead" : "mayManage"),
          }))}
          onChange={(next) => set("scope", SCOPES.find((scope) => scope === next) ?? "teams:read")}
        />
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
