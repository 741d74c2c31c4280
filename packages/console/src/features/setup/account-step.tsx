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
        <TextField label={t("username")} autoComplete="username" {...form.input("username")} />
        <SecretField label={t("password")} autoComplete="new-password" {...form.input("password")} />
        <SecretField label={t("repeat")} autoComplete="new-password" {...form.input("repeated")} />
      </SimpleGrid>
      {needsToken && (
        <Flex mt="4" maxW="96">
          <SecretField label={t("setupToken")} help={t("setupTokenHelp")} {...form.input("setup_token")} />
        </Flex>
      )}
      <Button type="submit" mt="4" loading={form.isSaving}>
        {t("createAccount")}
      </Button>
    </form>
  );
}
