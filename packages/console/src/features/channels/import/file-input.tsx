import { Field } from "@chakra-ui/react";

/** A field that takes one file of the user's machine. */
export function FileInput(props: {
  readonly label: string;
  readonly help?: string;
  readonly accept: string;
  onFile(file: File): void;
}) {
  return (
    <Field.Root>
      <Field.Label>{props.label}</Field.Label>
      <Field.Context>
        {({ ids }) => (
          <input
            id={ids.control}
            type="file"
            accept={props.accept}
            onChange={(event) => {
              const file = event.target.files?.[0];
              if (file) props.onFile(file);
            }}
          />
        )}
      </Field.Context>
      {props.help !== undefined && <Field.HelperText>{props.help}</Field.HelperText>}
    </Field.Root>
  );
}
