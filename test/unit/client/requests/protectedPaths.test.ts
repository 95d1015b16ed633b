// Which files start programs, by name and through links.
import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isProtected } from '../../../../src/client/requests/protectedPaths';
import { realTarget } from '../../../../src/client/requests/roots';

const PROTECTED: Readonly<Record<string, readonly string[]>> = {
  'the configuration of agents': [
    ...['opencode.json', 'opencode.jsonc', '.opencode/plugin/x.ts', '.opencode/opencode.json', '.qwen/settings.json'],
    ...[
      '.kiro/settings/mcp.json',
      '.kiro/hooks/x.kiro.hook',
      '.windsurf/mcp.json',
      '.windsurf/hooks.json',
      '.roomodes',
    ],
    ...[
      '.continue/config.yaml',
      '.continue/config.ts',
      '.claude/hooks/check.sh',
      '.claude/hooks/x',
      '.claude/settings.json',
    ],
    ...[
      '.claude/skills/x/run.py',
      '.codex/config.toml',
      '.cursor/mcp.json',
      '.cursor/hooks/x.sh',
      '.gemini/settings.json',
    ],
    ...[
      '.cline/x.json',
      '.clinerules/hooks/x',
      '.roo/mcp.json',
      '.kilocode/mcp.json',
      '.amp/settings.json',
      '.crush.json',
    ],
    ...['.factory/mcp.json', '.aider.conf.yml', '.junie/mcp/mcp.json', '.trae/mcp.json', 'mcp.json', '.zed/tasks.json'],
    ...['.config/opencode/opencode.json', '.config/goose/config.yaml', '.github/hooks/x.json', '.claude.json'],
  ],
  'the settings of editors': [
    ...[
      '.vscode/tasks.json',
      '.idea/x.xml',
      'a.code-workspace',
      '.vim/plugin/x.vim',
      '.exrc',
      '.nvim.lua',
      '.fleet/run.json',
    ],
    ...[
      '.config/nvim/init.lua',
      '.emacs.d/init.el',
      '.dir-locals.el',
      '.config/Code/User/settings.json',
      '.devcontainer/x',
    ],
    ...['x.sublime-project', '.helix/languages.toml', 'AppData/Roaming/Code - Insiders/User/settings.json'],
  ],
  'version control and its hooks': [
    ...[
      '.git/config',
      '.git',
      '.gitconfig',
      '.config/git/config',
      '.hg/hgrc',
      '.hgrc',
      '.jj/repo/config.toml',
      '.sl/config',
    ],
    ...[
      '.husky/pre-commit',
      '.githooks/x',
      'lefthook.yml',
      '.lefthook.yml',
      '.pre-commit-config.yaml',
      '.lintstagedrc.json',
    ],
  ],
  'package managers and environments': [
    ...[
      '.cargo/config.toml',
      '.cargo/config',
      'crate/.cargo/config.toml',
      '.npmrc',
      '.pnpmfile.cjs',
      '.yarnrc.yml',
      '.bundle/config',
    ],
    ...[
      '.yarn/releases/yarn.cjs',
      'bunfig.toml',
      'pip.conf',
      '.mvn/extensions.xml',
      '.gradle/init.d/x.gradle',
      '.Rprofile',
    ],
    ...[
      '.envrc',
      '.envrc.local',
      'mise.toml',
      '.mise.local.toml',
      '.config/mise/config.toml',
      '.tool-versions',
      '.gdbinit',
    ],
  ],
  'what starts with the user': [
    ...[
      '.bashrc',
      '.zshenv',
      '.profile',
      '.config/fish/config.fish',
      '.ssh/config',
      '.ssh/authorized_keys',
      '.inputrc',
    ],
    ...[
      '.config/autostart/x.desktop',
      '.config/systemd/user/x.service',
      'Library/LaunchAgents/x.plist',
      '.local/bin/x',
    ],
    ...[
      'AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup/x.bat',
      '.xprofile',
      '.tmux.conf',
      '.gnupg/gpg.conf',
    ],
    ...['Documents/PowerShell/Microsoft.PowerShell_profile.ps1', '.aws/config', '.kube/config', '.docker/config.json'],
  ],
};

const SOURCES = [
  ...['git/config', 'vscode/settings.json', '.vscodeignore', '.claude/notes.md', 'src/.gitkeep', 'a.code-workspace.md'],
  ...['package.json', 'Makefile', 'Cargo.toml', 'src/config.toml', 'opencode.ts', 'kiro/settings.json', 'ssh/config'],
  ...['.github/workflows/ci.yml', '.gitignore', '.gitattributes', '.editorconfig', '.env', 'Dockerfile', 'docs/mcp.md'],
  ...[
    '.claude/commands/x.md',
    '.claude/CLAUDE.md',
    '.kiro/specs/x.md',
    '.cursor/rules/x.mdc',
    '.clinerules',
    'AGENTS.md',
  ],
  ...['.claude/worktrees/x/src/a.ts', '.claude/worktrees/x/tsconfig.json', 'bashrc', 'cargo/config.toml', 'model.pth'],
  ...['.docker/Dockerfile', 'hooks/pre-commit', 'mise/x.ts', '.config/x.json', 'jj/config.toml', 'deploy-profile.ps1'],
];

describe('files that start programs', () => {
  let root: string;
  const asks = async (name: string): Promise<boolean> =>
    isProtected(join(root, name), await realTarget(join(root, name)), [root]);

  before(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-protected-')));
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  for (const [title, names] of Object.entries(PROTECTED))
    it(`include ${title}, in any folder and case`, async () => {
      const missed: string[] = [];
      for (const name of names)
        for (const one of [name, `a/b/${name}`, name.toUpperCase(), `.claude/worktrees/x/${name}`, `${name}.`])
          if (!(await asks(one))) missed.push(one);
      assert.deepEqual(missed, []);
    });

  it('don’t include sources and notes', async () => {
    const asked: string[] = [];
    for (const name of SOURCES) if (await asks(name)) asked.push(name);
    assert.deepEqual(asked, []);
  });

  it('include the targets of their links', async () => {
    const link = (target: string, name: string): void => {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      symlinkSync(target, join(root, name));
    };
    for (const folder of ['config', 'scripts', 'dotfiles', 'shared']) mkdirSync(join(root, folder));
    for (const file of ['dotfiles/rc', 'scripts/check.sh', 'shared/agent.json', 'notes.md'])
      writeFileSync(join(root, file), '');
    link('config', '.claude');
    link('dotfiles/rc', '.bashrc');
    link('../../scripts/check.sh', '.git/hooks/pre-commit');
    link('../shared/agent.json', '.qwen/settings.json');
    link('../notes.md', '.qwen/QWEN.md');
    link('../shared', '.config/autostart');
    for (const name of [
      'config/settings.json',
      'dotfiles/rc',
      'scripts/check.sh',
      'shared/agent.json',
      'shared/x.desktop',
    ])
      assert.ok(await asks(name), name);
    for (const name of ['scripts/other.sh', 'notes.md', 'dotfiles/x']) assert.ok(!(await asks(name)), name);
  });
});
