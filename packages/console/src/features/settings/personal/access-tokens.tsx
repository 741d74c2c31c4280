import { ACCESS_SCOPES, type AccessScope, type NamedAccessToken } from "@fairway/wire";
import { Button, Flex, SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { useForm } from "../../../lib/use-form.ts";
import { ask } from "../../../ui/feedback/ask.ts";
import { ChipsField } from "../../../ui/form/chips-field.tsx";
import { CopyButton } from "../../../ui/content/copy-button.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { When } from "../../../ui/display/when.tsx";
import { accessTokensQuery, makeAccessToken, makeNamedToken, removeAccessToken } from "../api.ts";
import { useTexts } from "../texts.ts";

const DAYS = [7, 30, 90, 365] as const;
const NEVER = "0";
/** The scope of a token with all rights of its user. */
const EVERYTHING: AccessScope = "write";

/** Keys to the management API: the older single token, and named ones with an expiry and limits. */
export function AccessTokens() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(accessTokensQuery);
  const [made, setMade] = useState("");
  async function replace(): Promise<void> {
    const question = { title: t("makeTokenTitle"), body: t("makeTokenBody"), confirm: t("makeToken") };
    if (!(await ask(question))) return;
    await makeAccessToken().then(setMade, toastProblem);
  }
  return (
    <FormSection title={t("accessToken")}>
      <Text textStyle="sm" color="fg.muted">
        {t("accessTokenHelp")}
      </Text>
      {made !== "" && <MadeToken token={made} />}
      {error && !data && <LoadFailed problem={error} onRetry={() => void refetch()} />}
      {data?.map((token) => (
        <TokenLine key={token.name} token={token} />
      ))}
      <Flex>
        <Button size="sm" variant="outline" onClick={() => void replace()}>
          {t("makeToken")}
        </Button>
      </Flex>
      <NewToken onMade={setMade} />
    </FormSection>
  );
}

function MadeToken({ token }: { readonly token: string }) {
  const t = useTexts();
  return (
    <Flex align="center" gap="2">
      <Text fontFamily="mono" textStyle="sm" overflowWrap="anywhere">
        {token}
      </Text>
      <CopyButton text={token} label={t("copyToken")} />
      <Text textStyle="xs" color="fg.muted">
        {t("tokenOnce")}
      </Text>
    </Flex>
  );
}

function TokenLine({ token }: { readonly token: NamedAccessToken }) {
  const t = useTexts();
  const name = token.name === "" ? t("tokenNameless") : token.name;
  const remove = async () => {
    const question = { title: t("removeTokenTitle", { name }), body: t("makeTokenBody"), isDangerous: true };
    if (!(await ask({ ...question, confirm: t("removeToken") }))) return;
    await removeAccessToken(token.name).then(() => toast("success", t("tokenRemoved", { name })), toastProblem);
  };
  return (
    <Flex align="center" gap="3" wrap="wrap">
      <Text textStyle="sm" fontWeight="medium" overflowWrap="anywhere">
        {name}
      </Text>
      <Text textStyle="sm" color="fg.muted" flex="1" minW="12rem">
        {scopesText(token.scopes, t("tokenEverything"), t("tokenNothing"))} ·{" "}
        {token.expires_at === 0 ? (
          t("tokenNever")
        ) : (
          <>
            {t("tokenEnds")} <When at={token.expires_at} />
          </>
        )}
      </Text>
      <Button size="xs" variant="outline" aria-label={`${t("removeToken")}: ${name}`} onClick={() => void remove()}>
        {t("removeToken")}
      </Button>
    </Flex>
  );
}

function scopesText(scopes: readonly string[], everything: string, nothing: string): string {
  if (scopes.length === 0) return nothing;
  return scopes.includes(EVERYTHING) ? everything : scopes.join(", ");
}

function NewToken(props: { onMade(token: string): void }) {
  const t = useTexts();
  const form = useForm({
    initial: { name: "", days: "90", scopes: [] as string[] },
    check: ({ name, scopes }) => ({
      ...(name.trim() === "" && { name: t("tokenNameMissing") }),
      ...(scopes.length === 0 && { scopes: t("tokenScopesMissing") }),
    }),
    save: async ({ name, days, scopes }) => {
      props.onMade(await makeNamedToken({ name: name.trim(), days: Number(days), scopes }));
      form.set("name", "");
      form.set("scopes", []);
    },
    onProblem: toastProblem,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void form.submit();
  };
  const ends = DAYS.map((days) => ({ value: String(days), label: t("tokenDays", { days }) }));
  return (
    <form noValidate onSubmit={submit}>
      <Flex direction="column" gap="3">
        <SimpleGrid columns={{ base: 1, sm: 2 }} gap="4">
          <TextField
            label={t("tokenName")}
            value={form.values.name}
            error={form.errors.name}
            onChange={(name) => form.set("name", name)}
          />
          <SelectField
            label={t("tokenEnd")}
            value={form.values.days}
            choices={[...ends, { value: NEVER, label: t("tokenNever") }]}
            onChange={(days) => form.set("days", days)}
          />
        </SimpleGrid>
        <ChipsField
          label={t("tokenScopes")}
          help={t("tokenScopesHelp")}
          values={form.values.scopes}
          suggestions={ACCESS_SCOPES}
          duplicateText={t("tokenScopeTwice")}
          error={form.errors.scopes}
          onChange={(scopes) => form.set("scopes", scopes)}
        />
        <Flex>
          <Button type="submit" size="sm" variant="outline" loading={form.isSaving}>
            {t("makeNamedToken")}
          </Button>
        </Flex>
      </Flex>
    </form>
  );
}
