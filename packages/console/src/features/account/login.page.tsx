import { login } from "@fairway/wire";
import { Box, Button, Flex, Heading } from "@chakra-ui/react";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { Brand } from "../../app/frame/brand.tsx";
import { LanguageButton, ThemeButton } from "../../app/frame/preferences.tsx";
import { hasDefaultPassword, setUser } from "../../app/session/session.ts";
import { useStatus } from "../../app/session/status.ts";
import { call } from "../../lib/http.ts";
import { ApiProblem } from "../../lib/problems.ts";
import { safeReturnPath } from "../../lib/url-state.ts";
import { useForm } from "../../lib/use-form.ts";
import { SecretField, TextField } from "../../ui/field.tsx";
import { MarkShape } from "../../ui/mark.tsx";
import { problemText } from "../../ui/toaster.ts";
import { useTexts } from "./texts.ts";

/** The account that every new installation has. */
const FIRST_USER = "root";
const FIRST_PASSWORD = "123456";
const EMPTY = { username: "", password: "" };

function Alert(props: { readonly text: string; readonly isFailure: boolean }) {
  return (
    <Flex
      role="alert"
      gap="2.5"
      align="baseline"
      bg={props.isFailure ? "bg.error" : "bg.warning"}
      color={props.isFailure ? "fg.error" : "fg.warning"}
      borderRadius="l2"
      px="3"
      py="2"
      mb="4"
      textStyle="sm"
    >
      <MarkShape kind={props.isFailure ? "stop" : "caution"} />
      <span>{props.text}</span>
    </Flex>
  );
}

/** Signs in and tells what went wrong; on success the caller leaves the page. */
function useLogin(onDone: () => void) {
  const t = useTexts();
  const [failure, setFailure] = useState<string>();
  const form = useForm({
    initial: EMPTY,
    check: ({ username, password }) => {
      const isMissing = username.trim() === "" || password === "";
      setFailure(isMissing ? t("missing") : undefined);
      return {
        ...(username.trim() === "" && { username: t("missing") }),
        ...(password === "" && { password: t("missing") }),
      };
    },
    save: async ({ username, password }) => {
      setUser(await call(login, { body: { username: username.trim(), password } }));
      hasDefaultPassword.write(username.trim() === FIRST_USER && password === FIRST_PASSWORD);
    },
    onProblem: (problem) => setFailure(problem instanceof ApiProblem ? problem.message : problemText(problem)),
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await form.submit()) onDone();
  };
  return { form, failure, submit };
}

export function LoginPage() {
  const t = useTexts();
  const status = useStatus();
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const fields = useRef<HTMLFormElement>(null);
  const { form, failure, submit } = useLogin(
    () => void navigate(safeReturnPath(search.get("next"), "/token"), { replace: true }),
  );
  const isOpen = status.password_login_enabled;
  useEffect(() => {
    document.title = `${t("title")} · ${status.system_name}`;
    fields.current?.querySelector("input")?.focus();
  }, [t, status.system_name]);
  return (
    <Flex direction="column" minH="100dvh" className="harbour">
      <Flex justify="flex-end" gap="1" p="3">
        <LanguageButton />
        <ThemeButton />
      </Flex>
      <Flex as="main" direction="column" align="center" justify="center" flex="1" px="4" pb="24">
        <Box mb="6">
          <Brand size={36} />
        </Box>
        <Box width="full" maxW="380px" bg="bg.panel" borderWidth="1px" borderRadius="l3" p="6" boxShadow="sm">
          <Heading as="h1" textStyle="xl" fontWeight="semibold" mb="4">
            {t("title")}
          </Heading>
          {failure !== undefined && <Alert text={failure} isFailure />}
          {failure === undefined && search.get("expired") === "true" && <Alert text={t("expired")} isFailure={false} />}
          {isOpen ? (
            <form ref={fields} noValidate onSubmit={(event) => void submit(event)}>
              <Flex direction="column" gap="4">
                <TextField
                  label={t("username")}
                  name="username"
                  autoComplete="username"
                  value={form.values.username}
                  error={form.errors.username === undefined ? undefined : ""}
                  onChange={(value) => form.set("username", value)}
                />
                <SecretField
                  label={t("password")}
                  name="password"
                  autoComplete="current-password"
                  value={form.values.password}
                  error={form.errors.password === undefined ? undefined : ""}
                  onChange={(value) => form.set("password", value)}
                />
                <Button type="submit" size="lg" width="full" loading={form.isSaving}>
                  {t("submit")}
                </Button>
              </Flex>
            </form>
          ) : (
            <Alert text={t("passwordOff")} isFailure={false} />
          )}
        </Box>
      </Flex>
    </Flex>
  );
}
