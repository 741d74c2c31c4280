import { loginSecondFactor } from "@fairway/wire";
import { Button, Flex } from "@chakra-ui/react";
import { useState, type FormEvent } from "react";
import { setUser } from "../../session/session.ts";
import { call } from "../../lib/http.ts";
import { TextField } from "../../ui/form/field.tsx";
import { problemText } from "../../ui/feedback/toaster.ts";
import { useTexts } from "./texts.ts";

/** Prompts for the code after a sign-in service, for accounts with two-factor sign-in. */
export function SecondStep(props: { onDone(): void }) {
  const t = useTexts();
  const [code, setCode] = useState("");
  const [error, setError] = useState<string>();
  const [isSending, setSending] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setSending(true);
    try {
      setUser(await call(loginSecondFactor, { body: { code: code.trim() } }));
      props.onDone();
    } catch (problem) {
      setError(problemText(problem));
    } finally {
      setSending(false);
    }
  };
  return (
    <form noValidate onSubmit={(event) => void submit(event)}>
      <Flex direction="column" gap="4">
        <TextField
          label={t("code")}
          help={t("codeHelp")}
          name="code"
          autoComplete="one-time-code"
          value={code}
          error={error}
          onChange={setCode}
        />
        <Button type="submit" size="lg" width="full" loading={isSending}>
          {t("submit")}
        </Button>
      </Flex>
    </form>
  );
}
