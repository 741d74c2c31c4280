import { Button, Flex } from "@chakra-ui/react";
import { useState, type FormEvent } from "react";
import { ApiProblem } from "../../../lib/problems.ts";
import { TextField } from "../../../ui/form/field.tsx";
import { useTexts as useUiTexts } from "../../../ui/texts.ts";
import { toastProblem } from "../../../ui/feedback/toaster.ts";
import { useTexts } from "../texts.ts";

/** Prompts for an authenticator code and runs the action that needs it; the field reports a wrong code. */
export function CodeForm(props: {
  readonly submitLabel: string;
  readonly help: string;
  readonly isDangerous?: boolean;
  onSubmit(code: string): Promise<void>;
  onCancel(): void;
}) {
  const t = useTexts();
  const ui = useUiTexts();
  const [code, setCode] = useState("");
  const [error, setError] = useState<string>();
  const [isSending, setSending] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (code.trim() === "") return setError(t("codeMissing"));
    setSending(true);
    try {
      await props.onSubmit(code.trim());
    } catch (problem) {
      if (problem instanceof ApiProblem) setError(problem.message);
      else toastProblem(problem);
    } finally {
      setSending(false);
    }
  };
  return (
    <form noValidate onSubmit={(event) => void submit(event)}>
      <Flex direction="column" gap="3" maxW="380px">
        <TextField
          label={t("code")}
          help={props.help}
          autoComplete="one-time-code"
          isMono
          value={code}
          error={error}
          onChange={(text) => {
            setCode(text);
            setError(undefined);
          }}
        />
        <Flex gap="2">
          <Button
            type="submit"
            size="sm"
            loading={isSending}
            {...(props.isDangerous ? { colorPalette: "port" as const } : {})}
          >
            {props.submitLabel}
          </Button>
          <Button size="sm" variant="outline" onClick={props.onCancel}>
            {ui("cancel")}
          </Button>
        </Flex>
      </Flex>
    </form>
  );
}
