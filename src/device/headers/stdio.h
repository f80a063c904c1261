// printf is there without this header. The rest is for host functions.
#ifndef GPULUA_STDIO_H
#define GPULUA_STDIO_H
#include "gpulua/host_mark.h"
#include "gpulua/stddef.h"
typedef struct _IO_FILE FILE;
#define stdin ((FILE*)0)
#define stdout ((FILE*)1)
#define stderr ((FILE*)2)
#define EOF (-1)
#define BUFSIZ 8192
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
GPULUA_HOST FILE* fopen(const char* name, const char* mode);
GPULUA_HOST int fclose(FILE* file);
GPULUA_HOST int fflush(FILE* file);
GPULUA_HOST int feof(FILE* file);
GPULUA_HOST int ferror(FILE* file);
GPULUA_HOST int fprintf(FILE* file, const char* format, ...);
GPULUA_HOST int fscanf(FILE* file, const char* format, ...);
GPULUA_HOST int sprintf(char* text, const char* format, ...);
GPULUA_HOST int snprintf(char* text, size_t bytes, const char* format, ...);
GPULUA_HOST int sscanf(const char* text, const char* format, ...);
GPULUA_HOST int scanf(const char* format, ...);
GPULUA_HOST int fputs(const char* text, FILE* file);
GPULUA_HOST int puts(const char* text);
GPULUA_HOST int putchar(int character);
GPULUA_HOST int fputc(int character, FILE* file);
GPULUA_HOST int fgetc(FILE* file);
GPULUA_HOST int getchar();
GPULUA_HOST char* fgets(char* text, int bytes, FILE* file);
GPULUA_HOST size_t fread(void* memory, size_t bytes, size_t count, FILE* file);
GPULUA_HOST size_t fwrite(const void* memory, size_t bytes, size_t count, FILE* file);
GPULUA_HOST int fseek(FILE* file, long offset, int from);
GPULUA_HOST long ftell(FILE* file);
GPULUA_HOST void rewind(FILE* file);
GPULUA_HOST void perror(const char* text);
namespace std {
using ::printf;
using ::FILE; using ::fclose; using ::feof; using ::fflush; using ::fgets; using ::fopen; using ::fprintf; using ::fputs;
using ::fread; using ::fwrite; using ::puts; using ::snprintf; using ::sprintf;
}  // namespace std
#endif
