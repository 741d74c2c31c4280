// Builds the Homebrew formula of a release, from the checksums of its executables.

const SYSTEMS = [
  { file: "fairway-darwin-arm64", system: "macos", processor: "arm" },
  { file: "fairway-darwin-x64", system: "macos", processor: "intel" },
  { file: "fairway-linux-arm64", system: "linux", processor: "arm" },
  { file: "fairway-linux-x64", system: "linux", processor: "intel" },
] as const;

export interface FormulaInput {
  readonly version: string;
  /** URL of the release's files, without the last slash. */
  readonly downloads: string;
  readonly homepage: string;
  /** SHA-256 in hex, by file name. */
  readonly checksums: Readonly<Record<string, string>>;
}

/** Lists the systems that have a checksum; at least one must. */
export function homebrewFormula({ version, downloads, homepage, checksums }: FormulaInput): string {
  const built = SYSTEMS.filter(({ file }) => checksums[file]);
  if (built.length === 0) throw new Error(`no checksum of ${SYSTEMS.map(({ file }) => file).join(", ")}`);
  const blocks = ["macos", "linux"].flatMap((system) => {
    const files = built.filter((one) => one.system === system);
    return files.length === 0 ? [] : [`  on_${system} do`, ...files.flatMap(processorBlock), "  end", ""];
  });
  function processorBlock({ file, processor }: (typeof SYSTEMS)[number]): string[] {
    return [
      `    on_${processor} do`,
      `      url "${downloads}/${file}"`,
      `      sha256 "${checksums[file] ?? ""}"`,
      "    end",
    ];
  }
  return [
    "class Fairway < Formula",
    `  desc "Terminal client of the Fairway AI model gateway"`,
    `  homepage "${homepage}"`,
    `  version "${version}"`,
    `  license "Apache-2.0"`,
    "",
    ...blocks,
    "  def install",
    `    bin.install Dir["fairway-*"].first => "fairway"`,
    `    generate_completions_from_executable(bin/"fairway", "completion")`,
    `    (man1/"fairway.1").write Utils.safe_popen_read(bin/"fairway", "man")`,
    "  end",
    "",
    "  test do",
    `    assert_match version.to_s, shell_output("#{bin}/fairway --version")`,
    "  end",
    "end",
    "",
  ].join("\n");
}
