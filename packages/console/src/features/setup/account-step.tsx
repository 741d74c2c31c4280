import { characters, PASSWORD_MIN } from "@fairway/wire";
import { Button, Flex, SimpleGrid, Text } from "@chakra-ui/react";
import { useState, type FormEvent } from "react";
import { setUser } from "../../session/session.ts";
import { ApiProblem } from "../../lib/problems.ts";
import { useForm } from "../../lib/use-form.ts";
import { toastProblem } from "../../ui/feedback/toaster.ts";
import { SecretField, TextField } from "../../ui/form/field.tsx";
import { createFirstAccount } from "./api.ts";
import { useTexts } from "./texts.ts";

const EMPTY = { username: "root", password: "", repeated: "", setup_token: "" };

/** Creates the super administrator of an installation that has none. */
export function AccountStep() {
  const t = useTexts();
  const [needsToken, setNeedsToken] = useState(false);
  const form = useForm({
    initial: EMPTY,
    check: ({ username, password, repeated }) => ({
      ...(username.trim() === "" && { username: t("usernameMissing") }),
      ...(characters(password) < PASSWORD_MIN && { password: t("passwordShort") }),
      ...(password !== repeated && { repeated: t("passwordDiffer") }),
    }),
    save: async ({ username, password, setup_token }) =>
      setUser(await createFirstAccount({ username: username.trim(), password, setup_token: setup_token.trim() })),
    onProblem: (problem) => {
      if (problem instanceof ApiProblem && problem.key === "setup_token_required") setNeedsToken(true);
      toastProblem(problem);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void form.submit();
  };
  return (
    <form noValidate onSubmit={submit}>
      <Text color="fg.muted" mb="4">
        {t("accountBody")}
      </Text>
      <SimpleGrid columns={{ base: 1, md: 3 }} gap="4">
        <TextField
          label={t("username")}
          name="username"
          autoComplete="username"
          value={form.values.username}
          error={form.errors.username}
          onChange={(value) => form.set("username", value)}
        />
        <SecretField
          label={t("password")}
          name="password"
          autoComplete="new-password"
          value={form.values.password}
          error={form.errors.password}
          onChange={(value) => form.set("password", value)}
        />
        <SecretField
          label={t("repeat")}
          name="repeated"
          autoComplete="new-password"
          value={form.values.repeated}
          error={form.errors.repeated}
          onChange={(value) => form.set("repeated", value)}
        />
      </SimpleGrid>
      {needsToken && (
        <Flex mt="4" maxW="96">
          <SecretField
            label={t("setupToken")}
            help={t("setupTokenHelp")}
            value={form.values.setup_token}
            error={form.errors.setup_token}
            onChange={(value) => form.set("setup_token", value)}
          />
        </Flex>
      )}
      <Button type="submit" mt="4" loading={form.isSaving}>
        {t("createAccount")}
      </Button>
    </form>
  );
}
