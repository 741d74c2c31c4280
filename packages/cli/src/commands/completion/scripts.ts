export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
export type Shell = (typeof SHELLS)[number];

/** The file that has to load the script. */
export const INSTALLED_BY: Readonly<Record<Shell, string>> = {
  bash: 'echo "source <(fairway completion bash)" >> ~/.bashrc',
  zsh: 'echo "source <(fairway completion zsh)" >> ~/.zshrc   (below compinit)',
  fish: "fairway completion fish > ~/.config/fish/completions/fairway.fish",
  powershell: "fairway completion powershell >> $PROFILE",
};

/** Each script calls `fairway __complete` and falls back to file names if it gets nothing. */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: [
    "_fairway() {",
    "  local line",
    "  COMPREPLY=()",
    "  while IFS= read -r line; do",
    "    COMPREPLY+=(\"${line%%$'\\t'*}\")",
    '  done < <(fairway __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)',
    "}",
    "complete -o default -F _fairway fairway",
  ].join("\n"),
  zsh: [
    "#compdef fairway",
    "_fairway() {",
    "  local line",
    "  local -a found",
    "  while IFS= read -r line; do",
    "    found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")",
    '  done < <(fairway __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)',
    "  if (( ${#found} )); then _describe fairway found; else _files; fi",
    "}",
    'if [[ $funcstack[1] == _fairway ]]; then _fairway "$@"; else compdef _fairway fairway; fi',
  ].join("\n"),
  fish: [
    "function __fairway_complete",
    "    set -l words (commandline -opc) (commandline -ct)",
    "    set -l found (fairway __complete -- $words[2..-1] 2>/dev/null)",
    "    if test (count $found) -gt 0",
    "        printf '%s\\n' $found",
    "    else",
    "        __fish_complete_path (commandline -ct)",
    "    end",
    "end",
    "complete -c fairway -f -a '(__fairway_complete)'",
  ].join("\n"),
  powershell: [
    "Register-ArgumentCompleter -Native -CommandName fairway -ScriptBlock {",
    "  param($wordToComplete, $commandAst, $cursorPosition)",
    "  $before = $commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursorPosition }",
    "  $words = @($before | ForEach-Object { if ($null -ne $_.Value) { [string]$_.Value } else { $_.ToString() } })",
    `  $begun = $wordToComplete -replace '^["'']|["'']$', ''`,
    `  if ($begun -eq '') { $begun = '""' }`,
    "  $words += $begun",
    "  fairway __complete -- @words 2>$null | ForEach-Object {",
    '    $word, $about = $_ -split "`t", 2',
    "    if (-not $about) { $about = $word }",
    `    $text = if ($word -match '[^\\w./:@%+=,-]') { "'" + ($word -replace "'", "''") + "'" } else { $word }`,
    "    [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $about)",
    "  }",
    "}",
  ].join("\n"),
};
