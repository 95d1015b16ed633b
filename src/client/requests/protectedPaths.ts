// Files that start programs, or name the ones to start: an editor, git, a shell or an agent reads
// them without asking, so writing them amounts to running anything. Sources that run only on
// request don't count: package.json, makefiles, scripts and CI jobs.
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { plainParts } from '../../base/pathNames';
import { matchesPath } from './glob';
import { isBelow, isInsideRoots } from './roots';

/**
 * Every file in them, also above the session's folders. The first can be files that name a folder.
 */
const TOOL_FOLDERS = ['.git', '.hg', '.jj', '.sl', '.vscode', '.idea', '.devcontainer', '.husky', '.githooks'];

/** Only their configuration, hooks and plugins count, not notes and worktrees. */
const AGENT_FOLDERS =
  '.agent .agents .aider .amazonq .amp .augment .claude .cline .clinerules .codebuddy .codeium .codex .continue .copilot .crush .cursor .devin .droid .factory .forge .gemini .goose .grok .iflow .junie .kilo .kilocode .kimi .kimi-code .kiro .letta .mastracode .omp .openclaw .opencode .openhands .pi .plandex .qoder .qwen .roo .rovodev .stakpak .tabnine .trae .vibe .void .warp .windsurf .zed';
const NOTES = /\.(?:md|mdc|mdx|markdown|txt|rst|adoc)$/;
const WORKTREES = /^worktrees?$/;

/** In any folder; lower case; `*` matches a part of a name. */
const GLOBS: readonly (readonly [what: string, globs: string])[] = [
  [
    'agents and their servers',
    'mcp.json .mcp.json mcp_config.json .roomodes opencode.json opencode.jsonc kilo.json kilo.jsonc crush.json .crush.json .aider.conf.yml .aider.model.settings.yml gemini-extension.json claude_desktop_config.json .claude.json .config/opencode/** .config/crush/** .config/goose/** .config/amp/** .config/kilo/** .config/zed/** .config/github-copilot/** .github/mcp.json .github/hooks/** .github/copilot/**',
  ],
  [
    'editors',
    '*.code-workspace .devcontainer.json .fleet/** .nova/** .vs/** .theia/** .helix/** *.sublime-project .exrc .vimrc _vimrc .gvimrc .nvimrc .nvim.lua .vim/** .config/nvim/** .config/helix/** .emacs .emacs.d/** .config/emacs/** .dir-locals.el .dir-locals-2.el .nanorc .kakrc .config/kak/** .vscode-server/** .vscode-oss/** .config/code/user/** .config/code*/user/** .config/vscodium/user/** .config/cursor/user/** appdata/roaming/code*/user/** library/application*support/code*/user/** library/application*support/cursor/user/**',
  ],
  [
    'version control',
    '.gitconfig .gitconfig.* .config/git/** .hgrc .config/hg/** .config/jj/** .subversion/** .bazaar/** .git-hooks/** .hooks/** .lefthook/** lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml .lefthook.yaml .lefthook.toml lefthook-local.yml lefthook-local.yaml .lefthook-local.yml .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml .overcommit.yml .simple-git-hooks.json .simple-git-hooks.cjs .simple-git-hooks.js simple-git-hooks.json simple-git-hooks.cjs simple-git-hooks.js .huskyrc .huskyrc.* .lintstagedrc .lintstagedrc.* .captainhook.json captainhook.json',
  ],
  [
    'package managers and builds',
    '.npmrc .pnpmrc .pnpmfile.cjs .pnpmfile.mjs .yarnrc .yarnrc.yml .yarnrc.yaml .yarn/plugins/** .yarn/releases/** .pnp.cjs .pnp.loader.mjs .bunfig.toml bunfig.toml .cargo/config .cargo/config.toml .cargo/bin/** .bundle/config .gemrc .irbrc .pryrc .condarc .pip/** pip.conf pip.ini .config/pip/** .pydistutils.cfg sitecustomize.py usercustomize.py .mvn/** .mavenrc .gradle/init.d/** .gradle/init.gradle .gradle/init.gradle.kts .gradle/gradle.properties .m2/settings.xml .sbtopts .jvmopts nuget.config .nuget/** .nix-defexpr/** .config/nix/** .config/nixpkgs/** .bazelrc .buckconfig .composer/** .config/composer/** .cabal/config .stack/config.yaml .rprofile .renviron .julia/config/** .ocamlinit .ghci .iex.exs .erlang .pythonrc .pythonrc.py .pdbrc .gdbinit .lldbinit .perltidyrc .ghcup/config.yaml .rustup/settings.toml',
  ],
  [
    'environments of a folder',
    '.envrc .envrc.* .direnv/** .config/direnv/** mise.toml mise.*.toml .mise.toml .mise.*.toml mise/config.toml .mise/** .config/mise/** .config/mise.toml .rtx.toml .asdfrc .tool-versions .autoenv .autoenv.zsh .env.zsh .flox/** .devbox/** .tmuxinator/** .tmuxinator.yml .smug.yml',
  ],
  [
    'shells and terminals',
    '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_functions .bashenv .profile .zshrc .zshenv .zprofile .zlogin .zlogout .zsh/** .zshrc.d/** .bashrc.d/** .kshrc .mkshrc .shrc .shinit .cshrc .tcshrc .login .logout .inputrc .oh-my-zsh/** .config/fish/** .config/nushell/** .config/elvish/** .elvish/** .config/xonsh/** .xonshrc .config/powershell/** profile.ps1 microsoft.*profile.ps1 .config/starship.toml .tmux.conf .config/tmux/** .screenrc .config/zellij/** .wezterm.lua .config/wezterm/** .config/kitty/** .config/alacritty/** .config/ghostty/** .hushlogin .pam_environment .config/environment.d/** .wgetrc .curlrc .netrc .lessfilter .lesskey',
  ],
  [
    'the session of the user',
    '.config/autostart/** .config/autostart-scripts/** .config/systemd/** .config/plasma-workspace/** .config/sway/** .config/i3/** .i3/** .config/hypr/** .config/openbox/** .config/bspwm/** .config/awesome/** .config/upstart/** .local/share/systemd/** .local/share/applications/** .local/share/dbus-1/** .local/bin/** .xprofile .xinitrc .xsession .xsessionrc .xserverrc .dmrc .crontab library/launchagents/** library/launchdaemons/** start*menu/programs/startup/** .config/user-tmpfiles.d/**',
  ],
  [
    'keys and machines',
    '.ssh/** .gnupg/** .aws/config .aws/credentials .kube/config .docker/config.json .docker/cli-plugins/** .config/containers/** .config/gcloud/** .config/gh/** .config/op/** .vagrant.d/** .terraformrc terraform.rc .mailcap .config/mimeapps.list .muttrc .forward .procmailrc',
  ],
];

const ALL = GLOBS.flatMap(([, globs]) => globs.split(' ')).map((glob) => glob.split('/'));
const BY_NAME = new Map<string, string[]>();
const OTHERS: string[] = [];
for (const parts of ALL) {
  const last = parts.at(-1) ?? '';
  const glob = ['**', ...parts].join('/');
  if (last.includes('*')) OTHERS.push(glob);
  else BY_NAME.set(last, [...(BY_NAME.get(last) ?? []), glob]);
}
const AGENTS = new Set(AGENT_FOLDERS.split(' '));

/** Paths that may be or contain links; lower case. */
const PLACES: readonly (readonly string[])[] = [
  ...[...TOOL_FOLDERS, ...AGENTS].map((name) => [name]),
  ['.git', 'hooks'],
  ['.claude', 'hooks'],
  ...ALL.map((parts) => {
    const star = parts.findIndex((part) => part.includes('*'));
    return star < 0 ? parts : parts.slice(0, star);
  }),
].filter((parts) => parts.length > 0);

/**
 * Returns whether writing a file changes what programs start.
 * @param path as requested: a link may be called `.vscode`
 * @param target from `realTarget`
 * @param roots protected places in them may be links to `target`
 */
export async function isProtected(path: string, target: string, roots: readonly string[]): Promise<boolean> {
  if (isProtectedFolder(path) || isProtectedFolder(target)) return true;
  // A project may be in an agent's folder, as worktrees are.
  if ([path, target].some((each) => isListed(plainParts(relativeTo(each, roots))))) return true;
  const linked = await Promise.all(roots.map(linkedPlaces));
  return isInsideRoots(target, linked.flat());
}

function isProtectedFolder(path: string): boolean {
  return plainParts(path).some((part) => TOOL_FOLDERS.includes(part) || /^git~\d+$/.test(part));
}

function isListed(parts: readonly string[]): boolean {
  const path = parts.join('/');
  if ([...(BY_NAME.get(parts.at(-1) ?? '') ?? []), ...OTHERS].some((glob) => matchesPath(glob, path))) return true;
  const at = parts.findIndex((part) => AGENTS.has(part));
  if (at < 0 || at === parts.length - 1) return false;
  if (WORKTREES.test(parts[at + 1] ?? '')) return isListed(parts.slice(at + 3));
  return !NOTES.test(path);
}

async function linkedPlaces(root: string): Promise<readonly string[]> {
  const read = (place: string): Promise<Dirent[]> => readdir(place, { withFileTypes: true }).catch(() => []);
  const present = new Map((await read(root)).map((entry) => [plainParts(entry.name)[0] ?? '', entry]));
  const found: string[] = [];
  for (const [first = '', ...others] of PLACES) {
    const entry = present.get(first);
    if (!entry) continue;
    const place = join(root, entry.name, ...others);
    // An agent's folder also has notes, so only links from it count.
    if (!AGENTS.has(first) || others.length > 0 || entry.isSymbolicLink()) found.push(place);
    for (const child of entry.isFile() ? [] : await read(place))
      if (child.isSymbolicLink() && !NOTES.test(child.name)) found.push(join(place, child.name));
  }
  return found;
}

function relativeTo(path: string, roots: readonly string[]): string {
  const root = roots.find((each) => isBelow(each, path));
  return root === undefined ? path : relative(root, path);
}
